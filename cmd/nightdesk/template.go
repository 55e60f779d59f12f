package main

import (
	"fmt"
	"os"

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
		return "", usageError{fmt.Errorf("read the template of reports: %w", err)}
	}
	if _, err := reporting.ParseTemplate(string(text)); err != nil {
		return "", usageError{hintError{fmt.Errorf("template %s:\n%w", name, err),
			"`nightdesk help templates` has an example."}}
	}
	return string(text), nil
}
