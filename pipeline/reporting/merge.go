package reporting

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// sameSources is the share of the smaller and of the larger block's passages that both must have in common to be one
// subject. Blocks that merely draw on one document share far less.
const sameSources = 0.8

// merge joins the subjects of each group into the first of them; all evidence is kept. Ids that do not exist are ignored,
// a subject in two groups stays in the first, and subjects whose titles name different numbers, years or names
// are never joined.
func merge(subjects []subject, groups []prompts.MergeGroup) []subject {
	byID := map[string]int{}
	for i, s := range subjects {
		byID[s.id] = i
	}
	into := make([]int, len(subjects)) // index of the subject that each one joins, itself if none
	title := make([]string, len(subjects))
	for i := range into {
		into[i] = i
	}
	taken := map[int]bool{}
	for _, g := range groups {
		var members []int
		for _, id := range g.BlockIDs {
			i, known := byID[strings.TrimSpace(id)]
			if known && !taken[i] && !slices.Contains(members, i) && !slices.ContainsFunc(members, func(j int) bool {
				return differ(subjects[i].title, subjects[j].title)
			}) {
				members = append(members, i)
			}
		}
		if len(members) < 2 {
			continue
		}
		slices.Sort(members)
		for _, i := range members {
			taken[i] = true
			into[i] = members[0]
		}
		if t := CleanTitle(g.Title); t != "" && !differ(t, subjects[members[0]].title) {
			title[members[0]] = t
		}
	}
	var merged []subject
	at := map[int]int{}
	for i, s := range subjects {
		if into[i] == i {
			at[i] = len(merged)
			if title[i] != "" {
				s.title = title[i]
			}
			s.claims, s.blocks = slices.Clone(s.claims), slices.Clone(s.blocks)
			merged = append(merged, s)
			continue
		}
		m := &merged[at[into[i]]]
		m.blocks = append(m.blocks, s.blocks...)
		m.claims = append(m.claims, s.claims...)
	}
	return merged
}

// localGroups finds subjects to merge without a model: equal titles, a section and its document of the same name, or
// the same passages behind both.
func localGroups(subjects []subject, words wordSet) []prompts.MergeGroup {
	var groups []prompts.MergeGroup
	grouped := map[int]bool{}
	for i := range subjects {
		if grouped[i] {
			continue
		}
		group := prompts.MergeGroup{Title: subjects[i].title, BlockIDs: []string{subjects[i].id}}
		for j := i + 1; j < len(subjects); j++ {
			if grouped[j] {
				continue
			}
			switch {
			case topicqueue.Duplicate(subjects[i].title, subjects[j].title):
			case sameSection(subjects[i], subjects[j]):
				if len(subjects[j].title) > len(group.Title) {
					group.Title = subjects[j].title
				}
			case subjects[i].hasHome() && subjects[j].hasHome(): // sections that their author keeps apart
				continue
			case shareSources(subjects[i], subjects[j]) && !differ(subjects[i].title, subjects[j].title):
				// both were planned, so both stay visible
				if both := group.Title + words.and + subjects[j].title; len([]rune(both)) <= 90 {
					group.Title = both
				}
			default:
				continue
			}
			grouped[j] = true
			group.BlockIDs = append(group.BlockIDs, subjects[j].id)
		}
		if len(group.BlockIDs) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// shareSources reports whether two subjects stand on nearly the same passages. One passage is too few to tell.
func shareSources(a, b subject) bool {
	passages := func(s subject) map[string]bool {
		set := map[string]bool{}
		for _, c := range s.claims {
			set[c.document()+"\x00"+c.source.ID+"\x00"+strings.Join(c.source.Section, "\x00")] = true
		}
		return set
	}
	pa, pb := passages(a), passages(b)
	common := 0
	for p := range pa {
		if pb[p] {
			common++
		}
	}
	return common > 1 && float64(common) >= sameSources*float64(max(len(pa), len(pb)))
}

// differ reports whether two titles name different things: a number or year that the other lacks, or names or acronyms
// on both sides that the other lacks. "EU banks 2024" differs from "UK banks 2024" and from "EU banks 2025".
func differ(a, b string) bool {
	numbersA, namesA := exactTokens(a)
	numbersB, namesB := exactTokens(b)
	lacks := func(from, in []string) bool {
		return slices.ContainsFunc(from, func(t string) bool { return !slices.Contains(in, t) })
	}
	return lacks(numbersA, numbersB) || lacks(numbersB, numbersA) || lacks(namesA, namesB) && lacks(namesB, namesA)
}

// exactTokens returns what must agree exactly in a title: tokens with digits, and names, which are acronyms and, where
// the title is not written In Title Case, capitalised words.
func exactTokens(title string) (numbers, names []string) {
	tokens := strings.FieldsFunc(title, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '.' && r != '-' && r != '_'
	})
	longLower := 0 // long words in lower case tell a sentence-case title
	for _, t := range tokens {
		if first := []rune(t)[0]; unicode.IsLower(first) && len(t) > 4 {
			longLower++
		}
	}
	for i, t := range tokens {
		t = strings.Trim(t, ".-_")
		runes := []rune(t)
		switch {
		case t == "":
		case strings.IndexFunc(t, unicode.IsNumber) >= 0:
			numbers = append(numbers, strings.ToLower(t))
		case len(runes) > 1 && unicode.IsUpper(runes[0]) && unicode.IsUpper(runes[1]),
			i > 0 && longLower > 0 && unicode.IsUpper(runes[0]):
			names = append(names, t)
		}
	}
	return numbers, names
}
