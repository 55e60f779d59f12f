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
	// all documents that the run may search were read while planning, so its blocks search only elsewhere; Traces has what
	// was found, each trace with the id of its block
	Whole bool `json:"whole,omitempty"`
	// storage key of the memory of the run that this one updates; empty: none
	Memory string `json:"memory,omitempty"`
	// maximum number of reviews of the evidence, the last of which adds no blocks; 0: no model is available for them
	Reviews int    `json:"reviews,omitempty"`
	Path    string `json:"path,omitempty"`        // PathDeep or PathShallow
	Why     string `json:"path_reason,omitempty"` // why a model chose Path, for display; empty: no choice was needed

	Documents []Document `json:"available_documents,omitempty"` // attached to the run
	Remarks   []Remark   `json:"remarks,omitempty"`             // readers' remarks on earlier reports on the topic
}

// Document is a document attached to a run.
type Document struct {
	FileName string `json:"file_name"`
	Summary  string `json:"summary"` // one paragraph
}
