// Package narration turns a finished report into speech: the script that is read aloud, the pieces that an engine
// speaks, one sound without clicks, and a transcript with times.
//
// It reads the report and never changes it. Start reading with Writer.Script, Pieces and Record; a Speaker is the
// engine, of which Espeak is the one that needs no server.
package narration
