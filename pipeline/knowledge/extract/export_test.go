package extract

import (
	"context"

	"nightdesk/pipeline/knowledge/extract/pdf"
)

// PDFWithoutHelp is PDF without pdftotext.
func PDFWithoutHelp(ctx context.Context, data []byte) (Document, error) {
	file, err := pdf.Open(ctx, data)
	if err != nil {
		return Document{}, err
	}
	pages, err := file.Words()
	if err != nil {
		return Document{}, err
	}
	return pdfDocument(ctx, pages, file.Info())
}

// PDFPoppler is PDF with nothing but pdftotext.
func PDFPoppler(ctx context.Context, data []byte) (Document, error) {
	pages, err := pdf.Poppler(ctx, data)
	if err != nil {
		return Document{}, err
	}
	return pdfDocument(ctx, pages, pdf.Info{})
}
