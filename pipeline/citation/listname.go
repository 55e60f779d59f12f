package citation

import (
	"regexp"
	"slices"
	"strings"
)

// referenceLabels name lists of references, by language.
var referenceLabels = func() map[string]bool {
	labels := map[string]bool{}
	for _, list := range []string{
		"sources|references|reference list|list of references|list of sources|source list|bibliography|works cited|cited " +
			"works|sources cited|cited sources|references cited|citations|literature|literature " +
			"cited|footnotes|endnotes|notes|sources consulted|works consulted|sources used|further reading",
		"参考文献|参考资料|参考来源|参考链接|参考|引用|引用来源|引用文献|来源|资料来源|信息来源|数据来源|文献|脚注|注释|主要参考文献|参考文献列表|參考文獻|參考資料|參考來源|資料來源|來源|引用來源",
		"出典|参照|参考資料|参考文献一覧|参考リンク|参考サイト|情報源|참고문헌|참고 문헌|참고자료|참고 자료|출처|인용 출처",
		"quellen|quellenverzeichnis|quellenangaben|quellennachweise|quellenliste|liste der quellen|verwendete " +
			"quellen|zitierte quellen|literatur|literaturverzeichnis|literaturliste|literaturangaben|referenzen|einzelnachweise|nachweise|belege|fußnoten|anmerkungen|bibliografie",
		"références|references bibliographiques|références bibliographiques|bibliographie|sources et références|notes et " +
			"références|sources citées|sources consultées|ouvrages cités|liste des sources|liste des références|webographie",
		"referencias|referencias bibliográficas|bibliografía|bibliografia|fuentes|fuentes consultadas|fuentes " +
			"citadas|lista de fuentes|lista de referencias|notas|obras citadas|referências|referências bibliográficas|lista " +
			"de referências|fontes|fontes consultadas|riferimenti|riferimenti bibliografici|fonti|elenco delle " +
			"fonti|sitografia|note",
		"bronnen|bronnenlijst|geraadpleegde " +
			"bronnen|referenties|literatuur|literatuurlijst|bronvermelding|källor|källförteckning|referenser|litteraturlista|kilder|kildeliste|referanser|referencer|litteraturliste|lähteet|lähdeluettelo|viitteet",
		"źródła|spis źródeł|bibliografia|literatura|zdroje|použité zdroje|seznam " +
			"zdrojů|források|irodalomjegyzék|felhasznált irodalom|surse|referințe|kaynaklar|kaynakça|πηγές|βιβλιογραφία",
		"источники|список источников|список использованных источников|использованные источники|литература|список " +
			"литературы|список использованной литературы|использованная литература|ссылки|библиография|джерела|список " +
			"використаних джерел|перелік посилань|література|източници|извори",
		"المراجع|مراجع|المصادر|مصادر|قائمة المراجع|قائمة المصادر|منابع|מקורות|संदर्भ|संदर्भ सूची|स्रोत|tài liệu tham " +
			"khảo|nguồn tham khảo|daftar pustaka|referensi|rujukan|เอกสารอ้างอิง|แหล่งอ้างอิง",
	} {
		for label := range strings.SplitSeq(list, "|") {
			labels[label] = true
		}
	}
	return labels
}()

// firstWord returns the beginning of a label up to what may follow or join one.
func firstWord(label string) string {
	for i, r := range label {
		if r <= ' ' || strings.ContainsRune("/&|,・(（和与及", r) {
			return label[:i]
		}
	}
	return label
}

// firstWords are the first words of all labels.
var firstWords = func() map[string]bool {
	words := map[string]bool{}
	for label := range referenceLabels {
		words[firstWord(label)] = true
	}
	return words
}()

// softLabels name other things as well: the entries below them must lead somewhere.
var softLabels = map[string]bool{"notes": true, "note": true, "notas": true, "anmerkungen": true, "literature": true,
	"further reading": true, "文献": true, "注释": true, "参考": true, "参照": true, "引用": true}

// labelNote is what stands behind a label in brackets: "sources (12)".
var labelNote = regexp.MustCompile(`^([^(（]+?)\s*[(（][^()（）/]{0,40}[)）]$`)

var labelJoin = regexp.MustCompile(`\s*(?:[/&|,・]|\b(?:and|und|et|y|e|en|och|og)\b|\s(?:и|та|i|و)\s|\sو|\s및\s|和|与|及)\s*`)

// isReferenceLabel reports whether a heading's words name a list of references, in any of the languages known here:
// "references", "sources and notes", "参考文献". "sources of income" does not.
func isReferenceLabel(label string) bool {
	if label == "" || len(label) > 90 {
		return false
	}
	if referenceLabels[label] {
		return true
	}
	if !firstWords[firstWord(label)] {
		return false // nearly every line of a report
	}
	if m := labelNote.FindStringSubmatch(label); m != nil && isReferenceLabel(m[1]) {
		return true
	}
	parts := labelJoin.Split(label, -1)
	return len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool { return !referenceLabels[p] })
}

// english labels are written as one, so that reports of different writers look alike.
var english = map[string]bool{"sources": true, "references": true, "reference list": true}
