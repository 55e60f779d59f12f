// Package reporting writes the report of a run from its evidence.
//
// Blocks that say the same are merged, an outline gives every block its place, each section is written from its own
// claims only, introduction and conclusion follow from what the sections cite, and package citation makes sure that
// every marker leads to a source. Without a model, or where the model fails, the same steps have local forms, so that
// evidence always becomes a report. Start reading with Reporter.Report. The package stores nothing.
package reporting
