package reporting

import (
	"reflect"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
	"nightdesk/topicqueue"
)

// Difference lists the differences between a report and its recorded check.
type Difference struct {
	Absent     []string // checked sentences that are missing, too rare, or cited with other sources
	Unchecked  []string // sentences with citations that were not checked
	References []string // entries that differ from those of the run's sources
}

// Compare returns the differences between a report and its check.
func (v *Verification) Compare(run topicqueue.Run, r report.Report, registry *citation.Registry) (d Difference) {
	key := func(words string, cited []string) string {
		cited = slices.DeleteFunc(slices.Clone(cited), func(id string) bool {
			_, known := registry.Lookup(id)
			return !known
		})
		slices.Sort(cited)
		return words + " [" + strings.Join(slices.Compact(cited), "][") + "]"
	}
	checked := map[string]int{}
	for _, s := range v.Sentences {
		if s.Action != ActionRemoved {
			checked[key(s.Text, s.Citations)]++
		}
	}
	for _, section := range r.Sections {
		if section.Role == report.RoleChanges { // quotes of the sources, which are not judged
			continue
		}
		report.EachStatement(section.Blocks, func(s report.Statement) {
			said := key(s.Text(), s.IDs())
			switch {
			case strings.Trim(s.Text(), "| ") == "" || len(s.IDs()) == 0 && s.Verdict == "":
			case checked[said] == 0:
				d.Unchecked = append(d.Unchecked, said)
			default:
				checked[said]--
			}
		})
	}
	for said, n := range checked {
		if n > 0 {
			d.Absent = append(d.Absent, said)
		}
	}
	slices.Sort(d.Absent)
	again := References(run, registry, r.Cited())
	for i := range max(len(again), len(r.References)) {
		var is, should report.Reference
		if i < len(again) {
			should = again[i]
		}
		if i < len(r.References) {
			is = r.References[i]
		}
		if !reflect.DeepEqual(is, should) {
			d.References = append(d.References, is.About+strings.Join(labels(is), ", "))
		}
	}
	return d
}

// Conclusion is the verdict, in a report, on a statement that is the report's own conclusion from its sources.
const Conclusion = "conclusion"

// number gives the statements of a report the numbers of their checks, which are in the order of the report.
func (v *Verification) number(r report.Report) {
	at := 0
	for _, section := range r.Sections {
		if section.Role == report.RoleChanges {
			continue
		}
		report.EachStatement(section.Blocks, func(s report.Statement) {
			said := s.Text()
			for i := at; i < len(v.Sentences); i++ {
				if c := v.Sentences[i]; c.Action != ActionRemoved && c.Text == said {
					at, s.Check = i+1, i+1
					if c.Conclusion() {
						s.Verdict = Conclusion
					}
					return
				}
			}
		})
	}
}

func labels(r report.Reference) (list []string) {
	for _, e := range r.Entries {
		list = append(list, e.Label)
	}
	return list
}
