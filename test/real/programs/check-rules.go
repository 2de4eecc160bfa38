// Checks a file of recording and alerting rules on standard input as `promtool check rules` does: expressions,
// durations, labels and the templates of annotations.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
)

func main() {
	content, err := io.ReadAll(os.Stdin)
	problems := []error{err}
	if err == nil {
		_, problems = rulefmt.Parse(content, false, model.UTF8Validation)
	}
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}
