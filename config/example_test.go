package config_test

import (
	"fmt"

	"nightdesk/config"
)

func ExampleLoad() {
	env := map[string]string{"LLM_MODEL": "qwen3", "LLM_BASE_URL": "http://localhost:11434/v1", "NIGHTDESK_PRESET": "deep"}
	c, err := config.Load("", false, func(name string) string { return env[name] }, map[string]string{"researching.max_iterations": "3"})
	if err != nil {
		fmt.Println(err)
		return
	}
	options, err := c.RunOptions("handbook")
	fmt.Println(options.Preset, options.SubTopics, options.MaxIterations, options.Tools, err)
	fmt.Println(c.LLM.Planner.Name, c.LLM.Planner.MaxTokens)

	_, err = config.Load("", false, func(string) string { return "" }, map[string]string{"preset": "standard", "worker.concurency": "2"})
	fmt.Println(err)
	// Output:
	// deep 8 3 [rag_hybrid rag_naive query_item run_code] <nil>
	// qwen3 4000
	// settings: 2 problems
	//   flag: preset "standard": must be one of shallow, route, quick, medium, deep, auto
	//   flag: worker.concurency: unknown setting; did you mean worker.concurrency?
}
