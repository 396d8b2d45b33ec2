package admission

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Rule is a CEL rule of a definition.
type Rule struct {
	Kind    string `json:"kind"`
	Field   string `json:"field"` // that the rule stands on: spec.rules[].filters
	Message string `json:"message"`
	// Transition rules compare an object with what it was before. None is
	// broken by creating one.
	Transition bool `json:"transition,omitempty"`
}

// Rules are those of all served versions, sorted, each once. What is below
// status is left out: users do not write it.
func Rules(ctx context.Context, api client.Client) ([]Rule, error) {
	list := &apiextensions.CustomResourceDefinitionList{}
	if err := api.List(ctx, list); err != nil {
		return nil, err
	}
	found := map[Rule]bool{}
	for _, definition := range list.Items {
		for _, version := range definition.Spec.Versions {
			if version.Served && version.Schema != nil && version.Schema.OpenAPIV3Schema != nil {
				collect(*version.Schema.OpenAPIV3Schema, definition.Spec.Names.Kind, "", found)
			}
		}
	}
	rules := make([]Rule, 0, len(found))
	for rule := range found {
		rules = append(rules, rule)
	}
	slices.SortFunc(rules, func(a, b Rule) int {
		return strings.Compare(a.Kind+" "+a.Field+" "+a.Message, b.Kind+" "+b.Field+" "+b.Message)
	})
	return rules, nil
}

func collect(schema apiextensions.JSONSchemaProps, kind, field string, found map[Rule]bool) {
	for _, rule := range schema.XValidations {
		message := rule.Message
		if message == "" {
			message = "failed rule: " + rule.Rule
		}
		found[Rule{kind, field, message, strings.Contains(rule.Rule, "oldSelf")}] = true
	}
	for name, property := range schema.Properties {
		switch {
		case field == "" && name == "status":
		case field == "":
			collect(property, kind, name, found)
		default:
			collect(property, kind, field+"."+name, found)
		}
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		collect(*schema.Items.Schema, kind, field+"[]", found)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		collect(*schema.AdditionalProperties.Schema, kind, field+"{}", found)
	}
}

// WriteRules writes the rules to a file, as a JSON list.
func WriteRules(ctx context.Context, api client.Client, file string) error {
	rules, err := Rules(ctx, api)
	if err != nil {
		return err
	}
	text, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
