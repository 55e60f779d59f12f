package prompts

import "slices"

// AboutData holds the facts common to all prompts of a run. It is identical in each of them, so that they keep a
// common prefix for caching.
type AboutData struct {
	Date      string     // of the run, YYYY-MM-DD
	UserInfo  string     // who asks and for what purpose, in the user's own words; empty: unknown
	Documents []Document // attached to the run
	Length    string     // desired length of the report, for its writers; empty: unspecified
	Audience  string     // audience of the report, for its writers; empty: unspecified
}

// Document is a document attached by the user.
type Document struct{ FileName, Summary string }

// plansResearch lists the prompts that decide what to look up. Only these include the attached documents.
var plansResearch = []string{"clarify", "route", "rephrase", "decompose", "decide", "answer", "look_up"}

// writesReport lists the prompts whose answers become part of the report or shape it.
var writesReport = []string{"outline", "author", "answer", "look_up"}

// About returns p with the common facts of the run prepended to its data. lang is the language of p.
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
