package support

import (
	"strings"

	"nightdesk/pipeline/extractive"
)

// pole is the side of an axis that a word stands on.
type pole struct {
	axis int
	side int // 1 or -1
}

// axes are words that turn what a sentence says into its opposite when one side stands for the other. Words that often
// mean something else (up, over, back, long) are left out. A star marks axes that tell whom it is said of, and not what.
const axes = `
increase increases increased increasing rise rises rose risen rising grow grows grew grown growing growth climb climbs climbed gain gains gained surge surged expand expands expanded expansion jump jumped soar soared raise raises raised steigt stieg steigen gestiegen wächst wuchs zunimmt nahm erhöht erhöhte wuchsen widen widens widened augmenté progressé progresse hausse crû 增加 增长 上升 提高 上涨 | decrease decreases decreased decreasing decline declines declined declining fall falls fell fallen falling drop drops dropped dropping reduce reduces reduced reducing reduction shrink shrinks shrank shrunk cut cuts plunge plunged dip dipped lose loses lost losing lower lowers lowered sinkt sank sinken gesunken fällt fiel abnimmt verringert verringerte senkt senkte narrow narrows narrowed reculé baissé diminué recule baisse 减少 下降 降低 下跌 缩小
more greater higher larger bigger most highest largest greatest mehr höher größer höchste größte 更多 更高 更大 最高 最大 | less fewer lower smaller least lowest smallest fewest weniger niedriger geringer kleiner niedrigste kleinste 更少 更低 更小 最低 最小
faster quickly quicker fastest quickest schneller 更快 最快 | slower slowest slowly langsamer 更慢 最慢
longer longest länger 更长 | shorter shortest kürzer 更短
before earlier prior vor vorher 之前 以前 | after later afterwards following nach nachher 之后 以后
* older oldest älter | newer younger newest youngest jünger
support supports supported supporting favour favours favor favors favoured approve approves approved endorse endorses endorsed accept accepts accepted agree agrees agreed ratified adopted passed grant grants granted stattgegeben welcome welcomes welcomed praise praises praised unterstützt befürwortet genehmigt 支持 赞成 批准 同意 | abgewiesen zurückgewiesen oppose opposes opposed opposing reject rejects rejected disagree disagrees disagreed against refuse refuses refused dispute disputed deny denies denied veto vetoed criticise criticises criticised criticize criticizes criticized condemn condemns condemned ablehnt abgelehnt lehnt lehnte 反对 拒绝 否决
allow allows allowed allowing permit permits permitted enable enables enabled erlaubt erlaubte 允许 | forbid forbids forbidden prohibit prohibits prohibited ban bans banned disable disables disabled prevent prevents prevented block blocks blocked verbietet verboten 禁止
better improve improves improved improvement best strengthen strengthens strengthened besser verbessert 更好 改善 | worse worsen worsens worsened worst degrade degrades degraded weaken weakens weakened schlechter verschlechtert 更差 恶化
begin begins began begun start starts started open opens opened launch launched beginnt begann 开始 | end ends ended stop stops stopped close closes closed cease ceased finish finished endet endete 结束 停止
arrive arrives arrived arrival ankommt ankam | depart departs departed departure leave leaves abfährt abfuhr
win wins won winning gewann 获胜 | lose loses lost losing verlor 失败
succeed succeeds succeeded success successful erfolgreich 成功 | fail fails failed failure unsuccessful gescheitert
profit profits profitable gewinn 盈利 | loss losses unprofitable verlust 亏损
maximum minimum|
always immer 总是 | never nie rarely seldom
positive positiv | negative negativ
import imports imported | export exports exported
include includes included including | exclude excludes excluded excluding
true correct right wahr richtig | false incorrect wrong falsch
safe sicher | unsafe dangerous gefährlich
buy buys bought purchase purchased acquire acquired kauft kaufte | sell sells sold selling verkauft verkaufte
strong stronger strongest stark | weak weaker weakest schwach
early früh | late spät
* northern north nördlich | southern south südlich
* eastern east östlich | western west westlich
* upper above oberhalb über | lower below unterhalb unter beneath
hot warm warmer hotter heiß | cold cool cooler colder kalt
add adds added | remove removes removed delete deletes deleted
majority mehrheit 多数 | minority minderheit 少数
legal lawful | illegal unlawful
* male men | female women
internal | external
ascending | descending
input | output
primary | secondary
* domestic | foreign
* public | private
maximum maximal | minimum minimal
majority most | minority few
frequent häufig 经常 | rare rarest rarer seltener selten 很少
easier easy simpler simple | harder difficult complex
cheaper cheap | expensive dearer costlier
wet humid | dry arid
necessary required mandatory compulsory | unnecessary optional voluntary
temporary | permanent
confirm confirmed confirms | contradict contradicted contradicts refuted refute
rich wealthy | poor
first | last final
`

// parties are the axes that tell whom it is said of.
var parties = map[int]bool{}

// poles has every word of axes, as written and by its stem, with its sides: a word may stand on several axes.
var poles, opposites = readAxes(axes)

func readAxes(list string) (map[string][]pole, map[string]map[string]bool) {
	found, opposite := map[string][]pole{}, map[string]map[string]bool{}
	for axis, line := range strings.Split(strings.TrimSpace(list), "\n") {
		line, who := strings.CutPrefix(line, "* ")
		parties[axis] = who
		plus, minus, _ := strings.Cut(line, "|")
		sides := [2][]string{strings.Fields(plus), strings.Fields(minus)}
		if len(sides[1]) == 0 {
			continue
		}
		var forms [2][]string
		for i, side := range sides {
			seen := map[string]bool{}
			for _, w := range side {
				for _, form := range append(extractive.Terms(w), w) {
					if !seen[form] {
						seen[form] = true
						forms[i] = append(forms[i], form)
						found[form] = append(found[form], pole{axis, 1 - 2*i})
					}
				}
			}
		}
		for i := range forms {
			for _, w := range forms[i] {
				if opposite[w] == nil {
					opposite[w] = map[string]bool{}
				}
				for _, o := range forms[1-i] {
					opposite[w][o] = true
				}
			}
		}
	}
	return found, opposite
}

// polesOf returns the sides that a word stands on.
func polesOf(w word) []pole {
	if p := poles[w.low]; p != nil {
		return p
	}
	return poles[w.term()]
}

// polesAt is polesOf for word i; "up" and "down" count where they tell of a change: up from, went down.
func polesAt(words []word, i int) []pole {
	w := words[i]
	if w.low == "up" || w.low == "down" {
		moved := i > 0 && (words[i-1].low == "went" || words[i-1].low == "go" || words[i-1].low == "goes" || words[i-1].low == "gone" || words[i-1].low == "going")
		if moved || i+1 < len(words) && (words[i+1].low == "from" || words[i+1].low == "to" || words[i+1].low == "by" || words[i+1].number() && words[i+1].start-w.end <= 4) {
			side := 1
			if w.low == "down" {
				side = -1
			}
			return []pole{{change, side}}
		}
		return nil
	}
	return polesOf(w)
}

// change is the first of the axes.
const change = 0
