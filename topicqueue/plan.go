package topicqueue

// Plan is what planning hands to the queue.
type Plan struct {
	Topic     string      `json:"topic"`              // the topic as researched: rephrased, or as the user gave it
	Mode      string      `json:"mode"`               // DecomposeManual or DecomposeAuto
	SubTopics []SubTopic  `json:"subtopics"`          // no two alike by Duplicate; at least one
	Queries   []string    `json:"queries"`            // searched for background
	Traces    []ToolTrace `json:"traces"`             // PLAN-01, ...: what background retrieval found
	Fallbacks []string    `json:"fallbacks"`          // steps that a model should have done and did not, for a person
	Returned  string      `json:"returned,omitempty"` // what background retrieval returned: see Checkpoint.Returned
	// storage key of what is remembered of the run that this one goes on from; empty: none
	Memory string `json:"memory,omitempty"`
	// no model is there that could review what is found: the report follows the last block
	Unreviewed bool   `json:"unreviewed,omitempty"`
	Path       string `json:"path,omitempty"`        // PathDeep or PathShallow
	Why        string `json:"path_reason,omitempty"` // why a model chose Path, for a person; empty: nobody had to choose

	Documents []Document `json:"available_documents,omitempty"` // attached to the run
	Remarks   []Remark   `json:"remarks,omitempty"`             // of readers about earlier reports on the topic
}

// Document is a document that is attached to a run.
type Document struct {
	FileName string `json:"file_name"`
	Summary  string `json:"summary"` // one paragraph
}
