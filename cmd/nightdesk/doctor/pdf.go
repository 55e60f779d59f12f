package doctor

import (
	"context"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/pipeline/reporting/formats/pdf"
)

// checkPDF finds the program that prints reports as PDF.
func checkPDF(context.Context, config.Config, *view.Console) []checkup {
	printer, err := pdf.Find()
	if err != nil {
		return []checkup{{Name: "pdf", Result: "note", Text: err.Error(),
			Hint: "Install one of them, for example: apt-get install chromium"}}
	}
	return []checkup{{Name: "pdf", Result: "ok", Text: "reports are printed with " + printer.Program}}
}
