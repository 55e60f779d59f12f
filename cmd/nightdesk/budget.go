package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/topicqueue"
)

// budgetFlags adds the flags for the budget of a run.
func budgetFlags(p *program, cmd *cobra.Command) {
	p.settingFlag(cmd.Flags(), "budget", "limits.run_budget",
		"budget of a run for models: US dollars such as 2.50, or tokens such as \"2M tokens\"")
}

// addBatchBudget adds the flag for the budget that all runs of a batch share.
func addBatchBudget(cmd *cobra.Command, f *intake.Flags) {
	cmd.Flags().Func("batch-budget",
		"budget of all runs of the batch together: US dollars such as 20, or tokens such as \"20M tokens\"",
		func(value string) (err error) {
			f.BatchBudget, err = topicqueue.ParseBudget(value)
			return err
		})
}

// spentWords returns text such as "$0.12 of $2.50", or "" without a budget.
func spentWords(spent, limit topicqueue.Budget) string {
	if limit.Amount() == 0 {
		return ""
	}
	text := "nothing"
	if spent.Amount() > 0 {
		text = amountWords(spent)
	}
	return text + " of " + amountWords(limit)
}

// amountWords formats a budget; money is rounded to four decimal places.
func amountWords(b topicqueue.Budget) string {
	if b.Money() {
		return fmt.Sprintf("$%.4f", b.USD)
	}
	return b.String()
}
