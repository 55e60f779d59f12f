package text

import "strings"

// set returns the set of the words in lists, which are separated by white space.
func set(lists ...string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lists {
		for _, w := range strings.Fields(l) {
			out[w] = true
		}
	}
	return out
}

// openAbbreviation lists abbreviations that never end a sentence.
var openAbbreviation = set(`e.g i.e eg ie cf viz vs resp approx ca dr mr mrs ms prof st hon rev mt eds ff incl excl
	dept univ assn esp a.k.a aka w.r.t abbr z.b d.h u.a i.d.r bzw ggf evtl vgl sog inkl zzgl nr hrsg mio mrd zb dh p.ex
	mme mlle sr sra srta dra ud uds pág págs núm p.ej p.ej`)

// countedAbbreviation lists abbreviations that do not end a sentence before a number, a letter or a bracket.
var countedAbbreviation = set(`no nos fig figs sec secs eq eqs ch chap vol vols pp p pg art thm lem prop tab app ref
	refs ver v al ed para paras kap abb bd s n nn l ll bk pt`)

// closingAbbreviation lists abbreviations that may also end a sentence. Many of them are words in code.
var closingAbbreviation = set(`etc inc ltd corp co llc jr plc bros a.m p.m usw min max avg temp col gen rep sen gov
	def syn ant orig repr transl trans jan feb mar apr jun jul aug sep sept oct nov dec str abs env av ej ee`)

var germanArticle = set(`am der die das dem den des im vom zum beim bis ab seit und ein eine einen jeder jeden`)

// starter lists words that begin sentences and are rarely names, to distinguish "Plan B. The" from "J. Smith".
var starter = set(`the a an it its this that these those he she they we you in on at if when for from to by with however
	but and there here as after before since while although because also some many most all each every not one what
	which who how why use using see note both then thus therefore such other any only no of their our your
	der die das ein eine es er sie wir im bei mit für wenn auch le la les un une il elle ils elles dans pour el los las
	una en para por si`)
