package prompts

import "slices"

// AboutData is what holds for all questions of a run. It is the same in each of them, so that it keeps their common
// prefix.
type AboutData struct {
	Date      string     // of the run, YYYY-MM-DD
	UserInfo  string     // who asks and for what, in the user's own words; empty: not known
	Documents []Document // attached to the run
	Length    string     // that the user wants of the report, for its writers; empty: not said
	Audience  string     // who reads the report, for its writers; empty: not said
}

// Document is a document that the user has attached.
type Document struct{ FileName, Summary string }

// plansResearch are the questions that decide what is looked up: these show the documents that are attached.
var plansResearch = []string{"clarify", "route", "rephrase", "queries", "decompose", "decide", "answer", "look_up"}

// writesReport are the questions whose answers readers read, or that shape them.
var writesReport = []string{"outline", "section", "repair_section", "frame", "answer"}

// About returns p with what holds for all questions of a run before its data. lang is that of p.
func About(lang string, p Prompt, d AboutData) Prompt {
	if !slices.Contains(plansResearch, p.Name) {
		d.Documents = nil
	}
	if !slices.Contains(writesReport, p.Name) {
		d.Length, d.Audience = "", ""
	}
	set, _ := choose(lang)
	if about := set.render("about.tmpl", d); about != "" {
		p.User = about + "\n\n" + p.User
	}
	return p
}

// SummarizeData asks for a summary of each document that the user has attached.
type SummarizeData struct {
	Topic     string
	Documents []DocumentExcerpt
}

// DocumentExcerpt is what is shown of a document.
type DocumentExcerpt struct {
	Number   int // counted from 1
	FileName string
	Title    string
	Sections []string // its headings
	Text     string   // its beginning
}

// SummarizeAnswer has a summary for each document.
type SummarizeAnswer struct {
	Summaries []DocumentSummary `json:"summaries"`
}

// DocumentSummary is one of them.
type DocumentSummary struct {
	Document int    `json:"document"`
	Summary  string `json:"summary"`
}

// Summarize asks for a summary of each attached document (SummarizeAnswer).
func Summarize(lang string, d SummarizeData) Prompt {
	return structured("summarize", lang, d, 300+200*len(d.Documents),
		Bound{Property: "summaries", Least: len(d.Documents), Most: len(d.Documents)})
}
