package extractive

import "strings"

// boilerplate reports sentences that are about the page and not about its subject: navigation, cross references,
// cookie and copyright lines, version labels.
func boilerplate(s string, ws []word) bool {
	low := flat(s)
	if hasPrefixAny(low, boilerplateStart) {
		return true
	}
	for _, x := range boilerplateAnywhere {
		if strings.Contains(low, x) {
			return true
		}
	}
	return aboutThePage(low) || reference(ws)
}

// flat folds s and joins its words by single spaces, without punctuation at the very beginning.
func flat(s string) string {
	return strings.ToLower(strings.Join(strings.Fields(strings.TrimLeft(s, "\"'“‘«([*_")), " "))
}

var boilerplateStart = []string{
	"copyright", "©", "(c) ", "all rights reserved", "see ", "for more ", "for further ", "for details", "for full details", "for additional",
	"for a complete ", "for a full ", "for a list ", "for a description ", "for an overview", "for an introduction", "for information ", "for general information",
	"refer to ", "please refer ", "please see ", "please note that this", "please report", "consult the ", "consult your ", "click ", "tap ",
	"read more", "learn more", "find out more", "to learn more", "to find out more", "more information", "more details", "further information",
	"further details", "additional information", "detailed information", "details on ", "details of ", "details about ", "details are ", "sign up", "sign in", "log in", "subscribe to our", "subscribe now", "subscribe for", "follow us",
	"share this", "skip to", "jump to", "go back", "back to ", "next:", "previous:", "prev:", "up:", "table of contents",
	"last updated", "last modified", "last reviewed", "page last", "updated on", "updated:", "posted on", "posted by", "published on", "published by", "written by", "edited by", "by clicking",
	"by using this site", "by continuing", "we use cookies", "this site uses", "this website", "this web site", "this site", "accept all", "accept cookies", "privacy policy", "terms of ",
	"download the ", "view source", "view the source", "report a bug", "found a bug", "edit this", "improve this page", "was this ", "did you find", "source code:",
	"new in version", "changed in version", "added in version", "deprecated since", "deprecated in version", "removed in version",
	"versionadded", "versionchanged", "availability:", "available in version", "advertisement", "sponsored", "related articles", "related:",
	"you are here", "you are reading", "you are viewing", "continue reading", "please enable", "please wait", "your browser", "thank you",
	"contact us", "join our", "get started with our", "have a question", "still have questions", "help us ", "created using",
	"siehe ", "siehe auch", "weitere informationen", "voir ", "pour plus ", "véase ", "ver también", "para más información", "参见", "请参阅", "更多信息", "版权所有",
}

var boilerplateAnywhere = []string{
	"use cookies", "uses cookies", "enable javascript", "javascript is disabled", "all rights reserved", "privacy policy", "terms of service",
	"terms of use", "cookie policy", "unsubscribe", "copyright ©", "copyright (c)",
	"click here", "can be found at http", "see http", "is left as an exercise", "see the documentation of", "see the documentation for",
	"beyond the scope of", "outside the scope of", "under construction", "table of contents",
}

// pageWords name the page, or a part of it, that a sentence stands in.
var pageWords = set(`page pages chapter chapters section sections document documents article tutorial tutorials manual
	guide appendix book documentation subsection subsections post blog howto handbook faq overview readme listing`)

// aboutThePage reports "This chapter describes ...", "The following sections ...", "In this tutorial we ...",
// "The rest of this page ...": sentences that say what will be said.
func aboutThePage(low string) bool {
	fs := strings.Fields(low)
	for i := 0; i < len(fs) && i < 7; i++ {
		switch fs[i] {
		case "this", "these", "following", "next", "previous", "preceding", "subsequent", "our", "present", "remaining":
			for j := i + 1; j < len(fs) && j <= i+3; j++ {
				w := strings.Trim(fs[j], ",.:;()")
				if pageWords[w] && (fs[i] != "our" || i < 3) {
					return true
				}
				if stopWords[w] && w != "of" && w != "few" && w != "two" {
					break
				}
			}
		}
	}
	return false
}

// numberedThing is what cross references number.
var numberedThing = set(`section sections chapter chapters table tables figure figures appendix example listing fig sec
	appendices abschnitt kapitel tabelle abbildung sección capítulo tabla figura chapitre tableau equation`)

// pointing verbs follow the number in sentences that only point elsewhere.
var pointing = set(`describe describes described explain explains explained discuss discusses discussed show shows shown list
	lists listed contain contains give gives given cover covers covered provide provides present presents presented
	illustrate illustrates illustrated summarize summarizes summarized document documents documented introduce introduces
	detail details detailed define defines outline outlines outlined found deal deals beschrieben gezeigt aufgeführt
	describen muestra décrit montre see`)

// reference reports sentences such as "Section 12.4 describes ..." and "The options are listed in Table 9-3.": they
// point to where something is said.
func reference(ws []word) bool {
	numberedAt, pointed := -1, false
	for i, w := range ws {
		if pointing[w.low] {
			pointed = true
		}
		if numberedThing[w.low] && i+1 < len(ws) && strings.ContainsAny(ws[i+1].raw, "0123456789") {
			if !bracketed(ws, i) && numberedAt < 0 {
				numberedAt = i
			}
		}
	}
	if numberedAt < 0 {
		return false
	}
	return numberedAt <= 1 || pointed
}

// bracketed reports that the word at i stands in a remark that a bracket closes soon: "(see Section 3.1)".
func bracketed(ws []word, i int) bool {
	for j := i + 1; j < len(ws) && j < i+8; j++ {
		if strings.ContainsAny(ws[j].after, ")]") {
			return true
		}
	}
	return false
}
