package digest

import "strings"

// advices maps words in reasons, which this program writes, to what the user can do. The first match applies.
var advices = []struct{ words, do string }{
	{"knowledge base", "Add the knowledge base, or set the same STORAGE_URL on every worker; then "},
	{"had nothing for the model", "Raise the budget or choose a smaller preset; then "},
	{"no evidence was found",
		"Rephrase the topic, or add a knowledge base or search engine that covers it; `nightdesk doctor` checks whether " +
			"they answer. Then "},
	{"before a worker had time",
		"Start more workers or give a later --deadline, and enqueue the topic in another batch, or "},
	{"time of the run was used up", "Give it more time (--duration), or the workers fewer topics at once; then "},
	{"budget", "Raise the budget or choose a smaller preset; then "},
	{"times without any progress", "It crashes its workers. Check their memory and logs before you "},
	{"defect in nightdesk", "Please report it with the worker's log. It may help to "},
	{"API key", "`nightdesk doctor --model` says what is wrong with the model. Correct it, then "},
	{"model", "`nightdesk doctor --model` says whether the model answers; then "},
}

// advice returns what to do about a run or, if many runs have the same reason, about a batch.
func advice(kind, reason, name string) string {
	again := "try again with `nightdesk retry " + name + "`"
	for _, a := range advices {
		if strings.Contains(reason, a.words) {
			return a.do + again + "."
		}
	}
	if kind == KindPartial {
		return "Keep this in mind when reading the report, or " + again + "."
	}
	return upper(again) + "."
}
