package prompts

import "encoding/json"

// Each function below renders one question. lang is the BCP 47 tag of the report ("en", "zh-Hans", "de"). Chinese has
// its own templates. All other tags use the English templates, which name the language to write in. An empty or
// malformed tag means English. Strings in the data may contain any bytes. All functions are safe for concurrent use.
//
// Author shows all fields of a ClaimLine; Decide omits the quote. Review and Outline, which see the claims of a whole
// run, also omit the source.

// Rephrase asks for the topic as a research brief (RephraseAnswer).
func Rephrase(lang string, d RephraseData) Prompt { return structured("rephrase", lang, d, 2000) }

// Decompose asks for the sub-topics of a topic (DecomposeAnswer).
func Decompose(lang string, d DecomposeData) Prompt {
	least := 1
	if d.Exactly {
		least = d.N
	}
	return structured("decompose", lang, d, 800+400*d.N,
		Bound{Property: "sub_topics", Least: least, Most: d.N}, Bound{Property: "queries", Least: 1, Most: 3})
}

// Decide asks whether a block's evidence suffices and what to do next (DecideAnswer).
func Decide(lang string, d DecideData) Prompt {
	names := make([]string, len(d.Tools))
	for i, t := range d.Tools {
		names[i] = t.Name
	}
	actions := Bound{Property: "actions", Most: d.MaxActions}
	if !d.Flexible && len(names) > 0 {
		actions.Least = 1
	}
	p := structured("decide", lang, d, 0, actions, Bound{Property: "tool_type", OneOf: names},
		Bound{Property: "new_sub_topics", Most: 3})
	p.Think = true
	return p
}

// Note asks for the claims in sources (NoteAnswer).
func Note(lang string, d NoteData) Prompt {
	names := make([]string, len(d.Blocks))
	for i, b := range d.Blocks {
		names[i] = b.ID
	}
	return structured("note", lang, d, 0, Bound{Property: "claims", Most: d.Most}, Bound{Property: "block", OneOf: names})
}

// Review asks what the evidence of a run lacks and where it contradicts itself (ReviewAnswer).
func Review(lang string, d ReviewData) Prompt {
	names := make([]string, len(d.Blocks))
	for i, b := range d.Blocks {
		names[i] = b.ID
	}
	return structured("review", lang, d, 1200+300*d.MaxGaps+100*len(d.Blocks)+60*MaxContradictions,
		Bound{Property: "gaps", Most: d.MaxGaps}, Bound{Property: "queries", Least: 1, Most: 3},
		Bound{Property: "parent", OneOf: append([]string{""}, names...)},
		Bound{Property: "contradictions", Most: MaxContradictions}, Bound{Property: "open", Most: maxOpen})
}

// Maximum numbers of open questions and of contradicting pairs in a review.
const maxOpen, MaxContradictions = 6, 12

// maxSections is the maximum number of sections of an outline, regardless of the number of blocks.
const maxSections = 6

// Outline asks for the outline of the report (OutlineAnswer).
func Outline(lang string, d OutlineData) Prompt {
	claims := 0
	for _, b := range d.Blocks {
		claims += len(b.Claims)
	}
	p := structured("outline", lang, d, 4000+15*claims, Bound{Property: "form", OneOf: Forms},
		Bound{Property: "sections", Least: 1, Most: max(maxSections, len(d.Sections))},
		Bound{Property: "block_ids", Most: len(d.Blocks), OneOf: ids(d.Blocks)},
		Bound{Property: "claims", Most: claims}, Bound{Property: "subsections", Most: 4})
	p.Think = true
	return p
}

// Forms are the forms of a report, by the kind of question that it answers.
var Forms = []string{"decision", "explanation", "overview", "how-to", "lookup", "papers"}

// Renew asks which sections of the last report to rewrite (RenewAnswer).
func Renew(lang string, d RenewData) Prompt {
	p := structured("renew", lang, d, 500+150*len(d.Sections)+20*len(d.Claims),
		Bound{Property: "sections", Most: len(d.Sections)}, Bound{Property: "claims", Most: len(d.Claims)})
	p.Think = true
	return p
}

func ids(blocks []BlockDigest) []string {
	out := make([]string, len(blocks))
	for i, b := range blocks {
		out[i] = b.ID
	}
	return out
}

// Author asks for parts of a report: Markdown with [CIT-3-01] markers. Each part begins with a heading of its number.
func Author(lang string, d AuthorData) Prompt {
	return freeText("author", lang, d, 1000*max(1, len(d.Parts))+150*(len(d.Claims)+len(d.Also)))
}

// Judge asks whether sentences follow from the passages of sources (JudgeAnswer).
func Judge(lang string, d JudgeData) Prompt {
	return structured("judge", lang, d, 600+120*len(d.Sentences), Bound{Property: "findings", Most: len(d.Sentences)},
		Bound{Property: "verdict", OneOf: []string{JudgedSupported, JudgedContradicted, JudgedPartly, JudgedAbsent,
			JudgedConclusion}})
}

// The verdicts of a judge.
const (
	JudgedSupported    = "supported"
	JudgedContradicted = "contradicted"
	JudgedPartly       = "partly"
	JudgedAbsent       = "not_in_source"
	JudgedConclusion   = "conclusion"
)

// Repair returns, in User, a text to append to the user part of a prompt whose answer did not match its schema.
// System and Schema are empty, because those of the prompt still apply.
func Repair(lang string, d RepairData) Prompt {
	set, _ := choose(lang)
	return Prompt{Name: "repair", User: set.render("repair.user.tmpl", d)}
}

func structured(name, lang string, data any, maxTokens int, bounds ...Bound) Prompt {
	p := ask(name, lang, data, schemaOf(name))
	p.MaxTokens, p.Bounds = maxTokens, bounds
	return p
}

func freeText(name, lang string, data any, maxTokens int) Prompt {
	p := ask(name, lang, data, nil)
	p.MaxTokens = maxTokens
	return p
}

func ask(name, lang string, data any, schema json.RawMessage) Prompt {
	set, language := choose(lang)
	return Prompt{
		Name:   name,
		System: set.render(name+".system.tmpl", systemData{language, Forms}),
		User:   set.render(name+".user.tmpl", data),
		Schema: schema,
	}
}
