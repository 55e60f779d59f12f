package evidence

import (
	"strings"

	"nightdesk/pipeline/extractive"
)

// folded maps words of one meaning to one of them.
func folded(terms []string) []string {
	out := make([]string, len(terms))
	for i, t := range terms {
		if s, ok := synonyms[t]; ok {
			t = s
		}
		out[i] = t
	}
	return out
}

// synonyms by stem: the first word of each line stands for the others.
var synonyms = func() map[string]string {
	found := map[string]string{}
	for line := range strings.Lines(`
long length lengthy länge lang
high height tall höhe hoch
weigh weight mass heavy gewicht wiegt
deep depth tief tiefe
wide width broad breit breite
found founded established establish created create formed incorporated gegründet founding
employ employs employees employee staff workers worker workforce mitarbeiter beschäftigt
population inhabitants inhabitant residents resident einwohner
cost costs price costing kostet
open opened opening inaugurated inauguration eröffnet
complete completed completion finished finish fertiggestellt
born birth geboren
build built construction constructed erected gebaut errichtet
publish published publication veröffentlicht
release released launched launch
revenue revenues turnover umsatz
carry carried carries transported transport
area surface fläche
speed velocity
die died death gestorben
`) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		stem := extractive.Terms(words[0])
		for _, w := range words {
			for _, t := range extractive.Terms(w) {
				found[t] = stem[0]
			}
		}
	}
	return found
}()

// stems returns the stems of a list of words, synonyms folded.
func stems(list string) map[string]bool {
	found := map[string]bool{}
	for _, w := range strings.Fields(list) {
		for _, t := range folded(extractive.Terms(w)) {
			found[t] = true
		}
	}
	return found
}

var (
	// neutral words add nothing to what is measured of what.
	neutral = stems(`has have had having is are was were be been being its their reach reached reaches total totals totalled totaling amount amounts amounted stand stands stood measure
		measures measured contain contains contained include includes comprise comprises number numbers count counts counted estimate figure figures about approximately around
		nearly roughly some over more than less least most exactly precisely officially official according report reports reported say says said state states stated show shows
		accord given listed record recorded currently current now today company firm corporation city town country people persons person year years
		value total whole entire overall altogether with size there which that also alone equal equals equivalent come comes came sits rise rises
		beträgt betrug hat hatte insgesamt etwa rund zählt laut unternehmen firma stadt liegt wurde worden`)
	// qualifying words say of what part, when or how a value holds: a maximum is no average.
	qualifying = stems(`maximum minimum average mean median peak gross net annual yearly monthly daily weekly quarterly hourly male female men women north south east west northern southern
		eastern western new old upper lower import imports export exports urban rural before after initial final domestic international foreign planned expected forecast projected target
		estimated proposed original former first last second next previous early late adult adults children summer winter day night rated nominal theoretical actual operating per capita
		main side short long-term excluding including without only half third quarter direct indirect public private global national regional local online offline
		increase decrease rise fall growth decline grow drop add additional extra remaining worst best lowest highest largest smallest cumulative adjusted`)
	// singular events happen once: their date is a value.
	singular = stems(`founded established created formed incorporated born died opened inaugurated launched released completed built published invented discovered signed adopted enacted
		abolished dissolved introduced ratified patented gegründet eröffnet geboren gestorben veröffentlicht gebaut errichtet erfunden entdeckt`)
	// wideSingular are those of Chinese, as parts of a statement.
	wideSingular = []string{"成立", "创立", "创建", "建立", "建成", "出生", "逝世", "开通", "发布", "发明", "发现", "竣工"}

	// moving words tell of changes, which have their day.
	moving = stems(`rise rose fall fell grow grew drop dropped decline declined increase increased decrease decreased climb climbed gain gained lose lost jump jumped
		surge surged slip slipped shrink shrank trade traded steigt stieg sank fiel wuchs`)

	negating  = wordSet(`not no never neither nor cannot nicht kein keine keinen keiner nie niemals`)
	plainWord = wordSet(`the a an this that these those it its in on at by of for from with as and or but our their his her he she they we you i there here
		when while after before since during although however according under over more most some many all both each every one two three about around as if no not
		der die das ein eine im am in mit nach von für auf bei es sie er wir und oder seit laut`)
)

// once reports that the words tell of an event that happens once.
func once(terms []string) bool {
	for _, t := range terms {
		if singular[t] {
			return true
		}
		for _, w := range wideSingular {
			if t == w {
				return true
			}
		}
	}
	return false
}

func wordSet(words string) map[string]bool {
	found := map[string]bool{}
	for _, w := range strings.Fields(words) {
		found[w] = true
	}
	return found
}
