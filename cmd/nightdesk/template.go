package main

import (
	"fmt"
	"os"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/pipeline/reporting"
)

// readTemplate reads and checks the template of a report; no name: there is none. The runs take its text along, for those
// who work them may be elsewhere.
func readTemplate(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", view.Usage(fmt.Errorf("read the template of reports: %w", err))
	}
	if _, err := reporting.ParseTemplate(string(text)); err != nil {
		return "", view.Usage(view.Hint(fmt.Errorf("template %s:\n%w", name, err),
			"`nightdesk help templates` has an example."))
	}
	return string(text), nil
}
