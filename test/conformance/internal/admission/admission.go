// Package admission asks a real API server what it says to objects. Each one
// goes the way that kubectl sends it, as a dry run, so that nothing is stored.
package admission

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"
)

// Case is an object as a user would write it.
type Case struct {
	Name string `json:"name"`
	Text string `json:"text"` // one YAML document
}

// Answer is what became of a case.
type Answer struct {
	Name string `json:"name"`
	// Unsent says why kubectl would not even have sent the object.
	Unsent string `json:"unsent,omitempty"`
	// Strict is the reply to fieldValidation=Strict, which is kubectl's choice.
	Strict *Reply `json:"strict,omitempty"`
	// Warn is the reply to fieldValidation=Warn. It is asked for where Strict
	// stopped at unknown fields: the server looks at the rest only then.
	Warn *Reply `json:"warn,omitempty"`
}

// Reply is an answer of the API server: the object, or a Status.
type Reply struct {
	Code     int             `json:"code"`
	Body     json.RawMessage `json:"body"`
	Warnings []string        `json:"warnings,omitempty"`
}

// strictError begins the server's list of unknown and duplicate fields.
const strictError = "strict decoding error: "

// Judge reads cases, one JSON object a line, and writes an answer a line in
// the same order. It returns how many there were.
func Judge(ctx context.Context, config *rest.Config, cases io.Reader, answers io.Writer) (count int, err error) {
	j, err := newJudge(config)
	if err != nil {
		return 0, err
	}
	out := json.NewEncoder(answers)
	in := json.NewDecoder(bufio.NewReader(cases))
	for {
		var c Case
		if err := in.Decode(&c); err == io.EOF {
			return count, nil
		} else if err != nil {
			return count, fmt.Errorf("case %d: %w", count+1, err)
		}
		answer, err := j.ask(ctx, c)
		if err != nil {
			return count, fmt.Errorf("%s: %w", c.Name, err)
		}
		if err := out.Encode(answer); err != nil {
			return count, err
		}
		count++
	}
}

// JudgeFiles is Judge from file to file.
func JudgeFiles(ctx context.Context, config *rest.Config, cases, answers string) (count int, err error) {
	in, err := os.Open(cases)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.Create(answers)
	if err != nil {
		return 0, err
	}
	count, err = Judge(ctx, config, in, out)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return count, err
}

type judge struct {
	host       string
	http       *http.Client
	mapper     meta.RESTMapper
	core       kubernetes.Interface
	namespaces map[string]bool // that exist
}

func newJudge(config *rest.Config) (*judge, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(core.Discovery())
	if err != nil {
		return nil, err
	}
	return &judge{
		host:       strings.TrimSuffix(config.Host, "/"),
		http:       client,
		mapper:     restmapper.NewDiscoveryRESTMapper(groups),
		core:       core,
		namespaces: map[string]bool{metav1.NamespaceDefault: true},
	}, nil
}

func (j *judge) ask(ctx context.Context, c Case) (*Answer, error) {
	answer := &Answer{Name: c.Name}
	object, mapping, err := j.read(c.Text)
	if err != nil {
		answer.Unsent = err.Error()
		return answer, nil
	}
	address, err := j.address(ctx, object, mapping)
	if err != nil {
		return nil, err
	}
	body, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	if answer.Strict, err = j.create(ctx, address, metav1.FieldValidationStrict, body); err != nil {
		return nil, err
	}
	if answer.Strict.Code == http.StatusBadRequest && bytes.Contains(answer.Strict.Body, []byte(strictError)) {
		answer.Warn, err = j.create(ctx, address, metav1.FieldValidationWarn, body)
	}
	return answer, err
}

// read turns YAML into the object that kubectl sends, and finds its resource.
func (j *judge) read(text string) (*unstructured.Unstructured, *meta.RESTMapping, error) {
	converted, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(converted); err != nil {
		return nil, nil, err
	}
	kind := object.GroupVersionKind()
	mapping, err := j.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	return object, mapping, err
}

// address is where the object is created. An object without a namespace goes
// to the default one; a namespace that can exist is made where it is missing.
func (j *judge) address(ctx context.Context, object *unstructured.Unstructured, mapping *meta.RESTMapping) (string, error) {
	resource := mapping.Resource
	path := "/apis/" + resource.Group + "/" + resource.Version
	if resource.Group == "" {
		path = "/api/" + resource.Version
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		return j.host + path + "/" + resource.Resource, nil
	}
	namespace := object.GetNamespace()
	if namespace == "" {
		namespace = metav1.NamespaceDefault
		if _, ok := object.Object["metadata"].(map[string]any); ok {
			object.SetNamespace(namespace)
		}
	}
	if !j.namespaces[namespace] && len(validation.IsDNS1123Label(namespace)) == 0 {
		wanted := &corev1.Namespace{}
		wanted.Name = namespace
		if _, err := j.core.CoreV1().Namespaces().Create(ctx, wanted, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return "", err
		}
		j.namespaces[namespace] = true
	}
	return j.host + path + "/namespaces/" + url.PathEscape(namespace) + "/" + resource.Resource, nil
}

func (j *judge) create(ctx context.Context, address, fieldValidation string, body []byte) (*Reply, error) {
	query := url.Values{"dryRun": {metav1.DryRunAll}, "fieldManager": {"kubectl-create"}, "fieldValidation": {fieldValidation}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := j.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	reply := &Reply{Code: response.StatusCode, Warnings: response.Header.Values("Warning")}
	reply.Body, err = io.ReadAll(response.Body)
	if err == nil && !json.Valid(reply.Body) {
		err = fmt.Errorf("answer %d is no JSON: %.200s", reply.Code, reply.Body)
	}
	return reply, err
}
