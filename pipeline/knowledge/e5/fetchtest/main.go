// Command fetchtest writes the weights of the model to a file, for tests: go run ./pipeline/knowledge/e5/fetchtest FILE
package main

import (
	"context"
	"fmt"
	"os"

	"nightdesk/pipeline/knowledge/e5"
)

func main() {
	if err := e5.Fetch(context.Background(), e5.Weights, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "fetchtest:", err)
		os.Exit(1)
	}
}
