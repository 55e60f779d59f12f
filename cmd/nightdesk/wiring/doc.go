// Package wiring creates the adapters of a process from its settings: Redis and the queue, storage, models, search,
// sandboxes, webhooks. Only this package chooses implementations according to settings.
//
// Entry points: [OpenDesk], [OpenStore] and [NewServices].
//
// # Adding something
//
// An addition touches these places and its own tests. `go test ./config -update` rewrites the list of settings and the
// example of nightdesk.yaml.
//
// Tool:
//   - pipeline/tools/NAME.go and NAME.md: the tool and its description for models
//   - pipeline/tools/builtin.go: its name, and a row with its scope and the form of its queries
//   - config/config.go: its switch in Researching
//   - config/sources.go: a row of builtInTools with its switch and its kinds of sources; needsOthers if it finds no
//     sources itself
//   - [NewServices], or toolbox.available if the tool depends on the run
//
// Preset:
//   - config/preset.go: an entry of Presets
//
// Web search engine:
//   - pipeline/tools/websearch/NAME.go, its name in services (websearch.go), an answer in testdata/NAME.json
//     and an answer without results in conformance_test.go
//   - config/services.go: its key in WebSearch and in Engines, in the order of services
//   - docker-compose.yaml: its key, if it is to be taken from the shell
//
// Setting:
//   - its field in Config, and a row with default, unit, doc and check in a table of package config (table.go)
//   - the constructor in this package that uses it
//   - if you remove one: a row in config/removed.go with the replacement, and a line in the changelog of the manual
//
// Command:
//   - cmd/nightdesk/NAME.go: the command, with its help
//   - cmd/nightdesk/root.go: one word in the list of commands; README.md lists it
package wiring
