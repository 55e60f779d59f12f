package config

import (
	"slices"
	"strings"
)

// removed maps the settings that no longer exist to what replaces them, or to the value that always applies. Setting
// one of them in the file, in the environment or by flag is an error that says so: otherwise the program would
// silently ignore a value that somebody relies on. ROLE stands for every role of the models,
// KIND for what had a retention of its own.
var removed = []struct{ path, instead string }{
	{"redis_ca_file", "add the certificate to those of the system, or its folder to SSL_CERT_DIR"},
	{"s3.endpoint", "set AWS_ENDPOINT_URL_S3 or S3_ENDPOINT in the environment"},
	{"s3.public_endpoint", "all programs use AWS_ENDPOINT_URL_S3; browsers get files from `nightdesk serve`"},
	{"s3.region", "set AWS_REGION or S3_REGION in the environment"},
	{"worker.report_concurrency", "it is always a fifth of worker.concurrency, in addition to it"},
	{"worker.shutdown_timeout", "it is always 20s"},
	{"researching.max_actions", "it is always 3, and 5 if researching.strategy is exploratory"},
	{"researching.tool_timeout", "it is always 60s; MCP servers can have a timeout of their own in tools.file"},
	{"researching.result_limit", "it is always 6"},
	{"researching.shared_lifetime", "it is always 12h"},
	{"fetch.timeout", "it is always 30s"},
	{"fetch.per_host", "it is always 1s, and 10ms for hosts in fetch.allow"},
	{"code.time_limit", "it is always 20s"},
	{"planning.wait_time", "it is always 5m"},
	{"queue.state_expiry", "it is always 168h"},
	{"limits.writing_time", "it is always a fifth of limits.run_duration, at most 15m"},
	{"limits.block_soft", "it is always 12m; set limits.run_duration"},
	{"limits.block_hard", "it is always 30m; set limits.run_duration"},
	{"answering.path", "set preset to shallow or to route; all other presets research sub-topics"},
	{"webhook.events", "all events are sent: let the receiver choose by their type"},
	{"retention.KIND_days", "set retention.days"},
	{"retention.KIND_count", "set retention.count"},
	{"web_search.providers", "all engines that have a key or an address are used: unset that of one that is not wanted"},
	{"web_search.per_second", "it is always the rate of the smallest plan of an engine"},
	{"web_search.base_urls", "engines are asked at their own address; use SearXNG for another one"},
	{"paper_search.providers", "arXiv, Crossref and Europe PMC are used, and OpenAlex and Semantic Scholar with a key"},
	{"crossref.mailto", "Crossref is asked without an address"},
	{"llm.max_tries", "it is always 10"},
	{"llm.ROLE.context_tokens", "set llm.context_tokens, for all roles: that of the smallest model"},
	{"llm.ROLE.temperature", "set llm.temperature, for all roles"},
	{"llm.ROLE.max_tokens", "set llm.max_tokens; roles that decide take 4000 or 2000 at most"},
	{"llm.ROLE.reasoning", "set llm.reasoning, for all roles"},
	{"llm.transport", "how a server gives structured answers is detected"},
	{"llm.token_field", "the field that a server knows is detected"},
	{"llm.ROLE.transport", "how a server gives structured answers is detected"},
	{"llm.ROLE.token_field", "the field that a server knows is detected"},
	{"embedding.dimensions", "vectors always have the length of the model; `kb add --reembed` makes them anew"},
	{"embedding.provider", "vectors always come from an embedding server: set EMBEDDING_MODEL and EMBEDDING_BASE_URL"},
	{"code.python_wasm_sum", "every python.wasm is accepted, because it has no rights"},
}

// removedPaths returns what to do instead, by path.
func removedPaths() map[string]string {
	paths := map[string]string{}
	for _, r := range removed {
		for _, of := range roles {
			paths[strings.Replace(r.path, "ROLE", of.name, 1)] = r.instead
		}
		for _, kind := range []string{"report", "bundle", "run", "topic", "knowledge"} {
			paths[strings.Replace(r.path, "KIND", kind, 1)] = r.instead
		}
	}
	return paths
}

// S3 is where the S3 server is, as far as environment variables of removed settings say it. They come before the
// standard ones of AWS, which the storage reads itself.
type S3 struct{ Endpoint, Region Variable }

// Variable is an environment variable that is set, or the zero value.
type Variable struct{ Name, Value string }

// removedVariables returns a problem for each environment variable of a removed setting that is set, and reads those
// that are still of use.
func removedVariables(getenv func(string) string, s3 *S3) (problems Problems) {
	read := map[string]*Variable{"S3_ENDPOINT": &s3.Endpoint, "S3_REGION": &s3.Region}
	for path, instead := range removedPaths() {
		env := environment(path)
		switch value := getenv(env); {
		case value == "":
		case read[env] != nil:
			*read[env] = Variable{env, value}
		default:
			problems = append(problems, Problem{Key: path, Source: "environment " + env, Reason: wasRemoved + instead})
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Key, b.Key) })
	return problems
}

// wasRemoved begins the reason of a problem with a removed setting.
const wasRemoved = "was removed: "
