package reporting

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

const (
	// fitting is the similarity from which a block that an outline forgot joins a section instead of getting its own:
	// about every third word in common.
	fitting = 0.34
	// maxSubsections keeps a model from cutting a section into headings with a sentence each.
	maxSubsections = 6
)

// frameTitles belong to the parts that every report has around its sections.
var frameTitles = []string{"introduction", "conclusion", "conclusions", "references", "sources", "gaps", "引言", "导言", "结论", "参考文献", "未覆盖的内容"}

// RepairOutline makes an outline usable: every block stands in exactly one section, unknown ids and sections without
// blocks are gone, titles are clean and not repeated. Blocks that the outline forgot join the section whose words fit
// best, else they get their own. An outline without anything usable becomes one section for each block. title is used
// when the outline has none that can be one. Never fails.
func RepairOutline(a prompts.OutlineAnswer, title string, blocks []prompts.BlockLine) prompts.OutlineAnswer {
	out := prompts.OutlineAnswer{Title: CleanTitle(a.Title), Introduction: fold(a.Introduction), Conclusion: fold(a.Conclusion)}
	if !reportTitle(out.Title) {
		out.Title = title
	}
	open := map[string]string{} // blocks without a place, with their titles
	for _, b := range blocks {
		open[b.ID] = b.Title
	}
	for _, s := range a.Sections {
		var ids []string
		for _, id := range s.BlockIDs {
			id = strings.TrimSpace(id)
			if _, ok := open[id]; ok {
				delete(open, id)
				ids = append(ids, id)
			}
		}
		if len(ids) == 0 {
			continue
		}
		section := prompts.OutlineSection{Title: CleanTitle(s.Title), Instruction: fold(s.Instruction), BlockIDs: ids}
		if section.Title == "" || slices.Contains(frameTitles, strings.ToLower(section.Title)) {
			section.Title = titleOf(ids[0], blocks)
		}
		section.Subsections = cleanSubsections(s.Subsections, section.Title)
		if i := slices.IndexFunc(out.Sections, func(o prompts.OutlineSection) bool { return sameTitle(o.Title, section.Title) }); i >= 0 {
			joinSections(&out.Sections[i], section)
			continue
		}
		out.Sections = append(out.Sections, section)
	}
	for _, b := range blocks {
		if _, forgotten := open[b.ID]; !forgotten {
			continue
		}
		delete(open, b.ID)
		if i := bestSection(out.Sections, b.Title); i >= 0 {
			out.Sections[i].BlockIDs = append(out.Sections[i].BlockIDs, b.ID)
			continue
		}
		out.Sections = append(out.Sections, prompts.OutlineSection{Title: titleOf(b.ID, blocks), BlockIDs: []string{b.ID}, Subsections: []prompts.OutlineSubsection{}})
	}
	return out
}

// jsonResidue is what a model leaves in a text that it wrote as a part of an object.
var jsonResidue = regexp.MustCompile(`[{}]|["']\s*:|\\["n]|\[\s*\]|^\[.*\]$`)

// reportTitle reports whether a model's title can stand above a report: two words at least, or several signs of a script
// without spaces, and nothing of the object that it was sent in.
func reportTitle(s string) bool {
	words, run := 0, 0
	for word := range strings.FieldsSeq(s) {
		if strings.ContainsFunc(word, unicode.IsLetter) {
			words++
		}
	}
	for _, r := range s {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
			run++
		}
	}
	return (words > 1 || run > 1) && !jsonResidue.MatchString(s)
}

func titleOf(id string, blocks []prompts.BlockLine) string {
	for _, b := range blocks {
		if b.ID == id {
			if title := CleanTitle(b.Title); title != "" {
				return title
			}
		}
	}
	return strings.ReplaceAll(id, "_", " ")
}

// cleanSubsections drops subsections without a title, with that of the section, or with one that came before.
func cleanSubsections(subs []prompts.OutlineSubsection, section string) []prompts.OutlineSubsection {
	clean := []prompts.OutlineSubsection{}
	for _, s := range subs {
		title := CleanTitle(s.Title)
		if titleKey(title) == "" || sameTitle(title, section) || len(clean) == maxSubsections ||
			slices.ContainsFunc(clean, func(o prompts.OutlineSubsection) bool { return sameTitle(o.Title, title) }) {
			continue
		}
		clean = append(clean, prompts.OutlineSubsection{Title: title, Instruction: fold(s.Instruction)})
	}
	return clean
}

func joinSections(into *prompts.OutlineSection, s prompts.OutlineSection) {
	into.BlockIDs = append(into.BlockIDs, s.BlockIDs...)
	into.Instruction = fold(into.Instruction + " " + s.Instruction)
	into.Subsections = cleanSubsections(append(into.Subsections, s.Subsections...), into.Title)
}

// bestSection returns the section whose title and subsections fit a block's title, -1 when none does.
func bestSection(sections []prompts.OutlineSection, title string) int {
	best, score := -1, fitting
	for i, s := range sections {
		similarity := text.Similarity(s.Title, title)
		for _, sub := range s.Subsections {
			similarity = max(similarity, text.Similarity(sub.Title, title))
		}
		if similarity >= score && similarity > 0 && (best < 0 || similarity > score) {
			best, score = i, similarity
		}
	}
	return best
}
