package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/topicqueue"
)

// budgetFlags adds the flags for the budget of a run.
func budgetFlags(p *program, cmd *cobra.Command) {
	p.settingFlag(cmd.Flags(), "budget", "limits.run_budget", "budget of a run for models, in US dollars, such as 2.50")
	cmd.Flags().Func("budget-tokens", "budget of a run in tokens, such as 2M", func(value string) error {
		b, err := topicqueue.ParseTokens(value)
		p.overrides["limits.run_budget"] = b.String()
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("budget", "budget-tokens")
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
