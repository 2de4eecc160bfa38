// Checks a file of recording and alerting rules on standard input as `promtool check rules` does: expressions,
// durations, labels and the templates of annotations.
//
// With arguments it prints as JSON which alerts fire, and from which minute to which. The first argument is the minute
// at which the rules begin to be evaluated, every other a series in the notation of Prometheus' unit tests,
// `name{label="value"} 1 2 _ 3 stale`, a sample a minute from time 0. `promtool test rules` does that as well, but
// brings all of Prometheus along.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
)

const step = time.Minute

func main() {
	content, err := io.ReadAll(os.Stdin)
	if err != nil {
		fail(err)
	}
	rules, problems := rulefmt.Parse(content, false, model.UTF8Validation)
	if len(problems) > 0 {
		fail(problems...)
	}
	if len(os.Args) == 1 {
		return
	}
	firing, err := evaluate(rules, os.Args[1], os.Args[2:])
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(firing); err != nil {
		fail(err)
	}
}

func fail(problems ...error) {
	for _, problem := range problems {
		fmt.Fprintln(os.Stderr, problem)
	}
	os.Exit(1)
}

type firing struct {
	Alert  string            `json:"alert"`
	Labels map[string]string `json:"labels"`
	From   int64             `json:"from"`
	To     int64             `json:"to"`
}

func evaluate(rules *rulefmt.RuleGroups, from string, descriptions []string) ([]firing, error) {
	minute, err := strconv.ParseInt(from, 10, 64)
	if err != nil {
		return nil, err
	}
	start := time.Unix(0, 0).Add(time.Duration(minute) * step)
	all, end, err := load(descriptions)
	if err != nil {
		return nil, err
	}
	// As Prometheus sets it up by itself.
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples:           50_000_000,
		Timeout:              2 * time.Minute,
		LookbackDelta:        5 * time.Minute,
		EnableAtModifier:     true,
		EnableNegativeOffset: true,
	})
	found := []firing{}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			query, err := engine.NewRangeQuery(context.Background(), all, nil, rule.Expr, start, end, step)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rule.Alert, err)
			}
			matrix, err := query.Exec(context.Background()).Matrix()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", rule.Alert, err)
			}
			for _, series := range matrix {
				found = append(found, spells(rule, series)...)
			}
		}
	}
	return found, nil
}

// spells are the times for which an alert was active without a gap for as long as its rule asks for.
func spells(rule rulefmt.Rule, series promql.Series) []firing {
	names := series.Metric.Map()
	delete(names, model.MetricNameLabel)
	hold := time.Duration(rule.For).Milliseconds()
	var found []firing
	for first := 0; first < len(series.Floats); {
		last := first
		for last+1 < len(series.Floats) && series.Floats[last+1].T-series.Floats[last].T == step.Milliseconds() {
			last++
		}
		from, to := series.Floats[first].T+hold, series.Floats[last].T
		if from <= to {
			minute := step.Milliseconds()
			found = append(found, firing{rule.Alert, names, from / minute, to / minute})
		}
		first = last + 1
	}
	return found
}

func load(descriptions []string) (storage.Queryable, time.Time, error) {
	var all []storage.Series
	end := time.Unix(0, 0)
	for _, description := range descriptions {
		metric, values, err := parser.ParseSeriesDesc(description)
		if err != nil {
			return nil, end, fmt.Errorf("%s: %w", description, err)
		}
		var points []promql.FPoint
		for minute, value := range values {
			at := time.Unix(0, 0).Add(time.Duration(minute) * step)
			if at.After(end) {
				end = at
			}
			if !value.Omitted {
				points = append(points, promql.FPoint{T: at.UnixMilli(), F: value.Value})
			}
		}
		all = append(all, promql.NewStorageSeries(promql.Series{Metric: metric, Floats: points}))
	}
	querier := &storage.MockQuerier{
		SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
			return &set{series: matching(all, matchers)}
		},
	}
	return &storage.MockQueryable{MockQuerier: querier}, end, nil
}

func matching(all []storage.Series, matchers []*labels.Matcher) []storage.Series {
	var found []storage.Series
	for _, series := range all {
		matches := true
		for _, matcher := range matchers {
			matches = matches && matcher.Matches(series.Labels().Get(matcher.Name))
		}
		if matches {
			found = append(found, series)
		}
	}
	return found
}

// set hands out its series one by one.
type set struct {
	series  []storage.Series
	current storage.Series
}

func (s *set) Next() bool {
	if len(s.series) == 0 {
		return false
	}
	s.current, s.series = s.series[0], s.series[1:]
	return true
}

func (s *set) At() storage.Series              { return s.current }
func (*set) Err() error                        { return nil }
func (*set) Warnings() annotations.Annotations { return nil }
