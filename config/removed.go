package config

import "slices"

// gone is a setting of an earlier version.
type gone struct {
	path    string
	instead string // what to do now: the replacement, or the value that always applies
}

// removed lists the settings that no longer exist. Setting one of them in the file, in the environment or by flag is
// an error that names the replacement: otherwise the program would silently ignore a value that somebody relies on.
var removed = slices.Concat([]gone{
	{"embedding.provider", "vectors always come from an embedding server: set EMBEDDING_MODEL and EMBEDDING_BASE_URL"},
	{"code.python_wasm_sum", "every python.wasm is accepted, because it has no rights"},
},
	ofModels("transport", "how a server gives structured answers is detected"),
	ofModels("token_field", "the field that a server knows is detected"),
)

// ofModels returns a removed setting of the main model and of each role.
func ofModels(key, instead string) []gone {
	list := []gone{{"llm." + key, instead}}
	for _, r := range roles {
		list = append(list, gone{"llm." + r.name + "." + key, instead})
	}
	return list
}

// reasonOfRemoved returns why a path cannot be set any more, and false if it is not the path of a removed setting.
func reasonOfRemoved(path string) (string, bool) {
	for _, g := range removed {
		if g.path == path {
			return "was removed: " + g.instead, true
		}
	}
	return "", false
}

// removedVariables returns a problem for each environment variable of a removed setting that is set.
func removedVariables(getenv func(string) string) (problems Problems) {
	for _, g := range removed {
		env := environment(g.path)
		if getenv(env) == "" {
			continue
		}
		reason, _ := reasonOfRemoved(g.path)
		problems = append(problems, Problem{Key: g.path, Source: "environment " + env, Reason: reason})
	}
	return problems
}
