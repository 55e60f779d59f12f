// Package narration converts a finished report to speech: a script, pieces for a speech engine, one recording without
// clicks, and a transcript with times.
//
// It does not change the report. Start reading with Writer.Script, Pieces and Record. A Speaker is a speech engine;
// Espeak needs no server.
package narration
