package topicqueue

// Plan is the result of planning, handed to the queue.
type Plan struct {
	Topic     string      `json:"topic"`              // the topic as researched: rephrased, or as the user gave it
	Mode      string      `json:"mode"`               // DecomposeManual or DecomposeAuto
	SubTopics []SubTopic  `json:"subtopics"`          // at least one; no two are duplicates by Duplicate
	Queries   []string    `json:"queries"`            // queries of the background search
	Traces    []ToolTrace `json:"traces"`             // PLAN-01, ...: results of the background search
	Fallbacks []string    `json:"fallbacks"`          // steps that a model should have done but did not, for display
	Returned  string      `json:"returned,omitempty"` // sources returned by the background search: see Checkpoint.Returned
	// storage key of the memory of the run that this one updates; empty: none
	Memory string `json:"memory,omitempty"`
	// no model is available for a review, so the report follows the last block
	Unreviewed bool   `json:"unreviewed,omitempty"`
	Path       string `json:"path,omitempty"`        // PathDeep or PathShallow
	Why        string `json:"path_reason,omitempty"` // why a model chose Path, for display; empty: no choice was needed

	Documents []Document `json:"available_documents,omitempty"` // attached to the run
	Remarks   []Remark   `json:"remarks,omitempty"`             // readers' remarks on earlier reports on the topic
}

// Document is a document attached to a run.
type Document struct {
	FileName string `json:"file_name"`
	Summary  string `json:"summary"` // one paragraph
}
