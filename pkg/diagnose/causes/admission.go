package causes

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/diagnose"
	"github.com/kubectl-workspace/kubectl-workspace/pkg/facts"
)

// podRefusal is one way in which the API server refuses a Pod. They differ in wording only,
// so the catalogue's rules are made from the table of them.
type podRefusal struct {
	id                     string
	title, recognised, fix string
	// patterns are tried in turn on what refusalText returns.
	patterns []*regexp.Regexp
	// explain turns a match into a cause; explainRefusals adds what all have in common.
	explain func(c *diagnose.Case, match []string) diagnose.Cause
}

// admissionRules are about a Pod that the API server refuses to create.
func admissionRules() []diagnose.Rule {
	var out []diagnose.Rule
	for _, r := range podRefusals() {
		out = append(out, diagnose.Rule{
			ID:         r.id,
			Blocks:     diagnose.RungPodCreated,
			Title:      r.title,
			Recognised: "There is no Pod, and the newest FailedCreate Event of the StatefulSet " + r.recognised,
			Fix:        r.fix,
			Match:      func(c *diagnose.Case) []diagnose.Cause { return explainRefusals(c, r.id) },
		})
	}
	return out
}

// refusals are in the order in which they are tried: a webhook may quote any of the others.
func podRefusals() []podRefusal {
	return []podRefusal{{
		id:         "admission-webhook-unreachable",
		title:      "An admission webhook cannot be asked",
		recognised: `says: failed calling webhook "x"; or that the admission did not end in time: failed to complete mutation, request did not complete within requested timeout; or that a patch does not fit: jsonpatch add operation does not apply.`,
		fix:        "An administrator has to repair the webhook or the way to it; Pods are refused until then.",
		patterns: patterns(
			`(?s)failed calling (?:admission )?webhook "([^"]+)": (.*)`,
			`()(\w+ operation does not apply: .*)`,
			`()(failed to complete (?:mutation|validation)\b.*|request did not complete within (?:the )?(?:requested|allotted) timeout)`),
		explain: explainWebhookUnreachable,
	}, {
		id:         "admission-webhook-denied",
		title:      "An admission webhook refuses the Pod",
		recognised: `says: admission webhook "x" denied the request.`,
		fix:        "Meet the policy that the webhook quotes, or ask whoever keeps it.",
		patterns:   patterns(`(?s)admission webhook "([^"]+)" denied the request(?:: (.*)| without explanation)`),
		explain:    explainWebhookDenied,
	}, {
		id:         "admission-policy-denied",
		title:      "A ValidatingAdmissionPolicy refuses the Pod",
		recognised: "says: ValidatingAdmissionPolicy 'x' with binding 'y' denied request.",
		fix:        "Meet the policy, for example with podMetadata of the Workspace, or ask whoever keeps it.",
		patterns:   patterns(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '([^']+)' denied request: (.*)`),
		explain:    explainPolicyDenied,
	}, {
		id:         "service-account-not-found",
		title:      "The ServiceAccount of the Pod does not exist",
		recognised: "says: error looking up service account.",
		fix:        "The Workspace controller makes ServiceAccount ws-NAME again as soon as it runs; any other one has to be created.",
		patterns: patterns(
			`error looking up service account ([^/\s]+)/(\S+): serviceaccounts? "[^"]*" not found`,
			// Before 1.16, and whenever the token of the ServiceAccount lags behind.
			`service account ([^/\s]+)/(\S+) was not found, retry after the service account is created`,
			`()No API token found for service account "([^"]+)"`),
		explain: explainServiceAccount,
	}, {
		id:         "quota-exceeded",
		title:      "A ResourceQuota is used up",
		recognised: "says: exceeded quota. Or: status unknown for quota, which nobody has counted yet.",
		fix:        "Pause or delete what uses up the quota, choose a smaller podConfig, or ask for more quota.",
		patterns: patterns(
			`(?s)exceeded quota: ([^,\s]+)(.*)`,
			`(?s)(status unknown) for quota: ([^,\s]+)(.*)`,
			`(?s)()(insufficient quota to (?:match these scopes|consume): .*)`),
		explain: explainQuota,
	}, {
		id:         "quota-requires-limits",
		title:      "A ResourceQuota demands requests or limits that a container does not set",
		recognised: "says: failed quota: x: must specify.",
		fix:        "Set the requests and limits in the podConfig, or give the namespace a LimitRange with defaults.",
		// Since 1.24 it names the containers: "limits.cpu for: main; limits.memory for: main".
		patterns: patterns(`(?s)failed quota: ([^:\s]+): must specify (.*)`),
		explain:  explainQuotaRequires,
	}, {
		id:         "limit-range-violated",
		title:      "A LimitRange refuses the Pod",
		recognised: "says: maximum (or minimum) … usage per Container is …, or: max limit to request ratio.",
		fix:        "Choose a podConfig within the limits, or change the LimitRange.",
		patterns:   patterns(`(?s)((?:(?:maximum|minimum) \S+ usage|[^\s\[]+ max limit to request ratio) per (?:Container|Pod) is .*)`),
		explain:    explainLimitRange,
	}, {
		id:         "pod-security-violation",
		title:      "Pod Security refuses the Pod",
		recognised: "says: violates PodSecurity, or, of PodSecurityPolicy (before 1.25) or OpenShift: unable to validate against any pod security policy, or security context constraint.",
		fix:        "Set the securityContext and containerSecurityContext of the WorkspaceKind as the message says, or change the level of the namespace.",
		patterns: patterns(
			`(?s)violates (PodSecurity "[^"]+"): (.*)`,
			`(?s)unable to (?:validate against|admit pod against) any (pod security policy|security policy|security context constraint)s?:? ?(.*)`,
			`(?s)(PodSecurityPolicy): (.*)`),
		explain: explainPodSecurity,
	}, {
		id:         "pod-spec-invalid",
		title:      "The API server finds the Pod invalid",
		recognised: `says: Pod "x" is invalid, or that a PriorityClass or RuntimeClass does not exist.`,
		fix:        "Correct what the message names, in the Workspace or its WorkspaceKind.",
		patterns: patterns(
			`(?s)^(?:Pod|pods|StatefulSet\.apps) "[^"]*" is invalid:\s*(.*)`,
			`(?s)(no (PriorityClass) with name (\S+) was found.*)`,
			`(?s)((RuntimeClass) "([^"]+)" not found.*)`),
		explain: explainInvalid,
	}}
}

func patterns(exprs ...string) []*regexp.Regexp {
	out := make([]*regexp.Regexp, len(exprs))
	for i, e := range exprs {
		out[i] = regexp.MustCompile(e)
	}
	return out
}

var refusalTable = podRefusals()

// explainRefusals explains why there is no Pod if that is for the reason with the given
// id. Only the newest refusal counts: the API server asks its admission plugins in a
// fixed order, so that one which is satisfied makes way for the next.
func explainRefusals(c *diagnose.Case, id string) []diagnose.Cause {
	for _, e := range failedCreates(c) {
		r, match := classifyRefusal(e.Plain())
		switch {
		case r == nil:
			continue
		case r.id != id:
			return nil
		}
		cause := r.explain(c, match)
		if cause.Confidence == "" {
			cause.Confidence = diagnose.Likely
		}
		if cause.State == "" {
			cause.State = diagnose.StateError
		}
		cause.Chain = []string{"Workspace " + c.Name(), statefulSetWords(c) + " cannot create its Pod", "the API server refuses the Pod", strings.ReplaceAll(cause.Object, "/", " ")}
		cause.Evidence = []diagnose.Evidence{e.Evidence()}
		return one(cause)
	}
	return nil
}

// classifyRefusal finds out which kind of refusal a message is about; nil if none.
func classifyRefusal(message string) (*podRefusal, []string) {
	text := refusalText(message)
	for i := range refusalTable {
		for _, p := range refusalTable[i].patterns {
			if m := p.FindStringSubmatch(text); m != nil {
				return &refusalTable[i], m
			}
		}
	}
	return nil, nil
}

// refusalPrefixes is what controllers put before the API server's own words. The first
// one is older Notebook controllers', which copy Events to the owner.
var refusalPrefixes = patterns(`^Reissued from \S+: `, `^(?i:create) Pod \S+ in StatefulSet \S+ failed error: `, `^Error creating: `)

// refusalText is what the API server said.
func refusalText(message string) string {
	for _, p := range refusalPrefixes {
		message = strings.TrimPrefix(message, p.FindString(message))
	}
	return strings.TrimSpace(message)
}

// failedCreates returns the FailedCreate Events that still hold, newest first. Where
// only the copy on the Workspace is left, that.
func failedCreates(c *diagnose.Case) []diagnose.Event {
	if c.Pod != nil {
		return nil
	}
	out := c.CurrentOf("StatefulSet", "FailedCreate")
	for _, e := range c.All {
		if len(out) == 0 && e.Object.Kind == "Workspace" && e.Reason == "FailedCreate" && !e.FromController {
			out = append(out, e)
		}
	}
	for _, e := range c.All {
		if e.Object.Kind == "StatefulSet" && e.Reason == "SuccessfulCreate" {
			for len(out) > 0 && out[len(out)-1].Last.Before(e.Last) && !out[len(out)-1].FromController {
				out = out[:len(out)-1]
			}
		}
	}
	return out
}

func statefulSetWords(c *diagnose.Case) string {
	if c.StatefulSet == nil {
		return "its StatefulSet"
	}
	return "StatefulSet " + c.StatefulSet.Name
}

func explainServiceAccount(c *diagnose.Case, m []string) diagnose.Cause {
	name := m[2]
	cause := diagnose.Cause{
		Object:  "ServiceAccount/" + name,
		Summary: fmt.Sprintf("The API server refuses the Pod of Workspace %s: ServiceAccount %q was not found in namespace %s.", c.Name(), name, c.Namespace()),
	}
	switch {
	case strings.Contains(m[0], "API token"):
		cause.Summary = fmt.Sprintf("The API server refuses the Pod of Workspace %s: ServiceAccount %q has no token yet.", c.Name(), name)
		cause.Fixes = []diagnose.Fix{inspect("See whether it gets one", "kubectl", "get", "serviceaccount", name, "-n", c.Namespace(), "-o", "yaml")}
		return cause
	case c.ServiceAccounts[name].IsAbsent():
		cause.Confidence = diagnose.Certain
		cause.Summary = fmt.Sprintf("ServiceAccount %q does not exist in namespace %s, so the API server refuses the Pod of Workspace %s.", name, c.Namespace(), c.Name())
	case c.ServiceAccounts[name].IsFound():
		cause.Confidence = diagnose.Certain
		cause.State = diagnose.StatePending
		cause.Summary = fmt.Sprintf("ServiceAccount %q exists now; %s, which missed it before, tries again by itself.", name, statefulSetWords(c))
		return cause
	}
	if name == ownServiceAccount(c) {
		// Made by hand it would be in the way of the controller, which wants to own it.
		cause.Summary += " The Workspace controller makes it again, once it runs."
		cause.Fixes = []diagnose.Fix{controllerPods()}
		return cause
	}
	cause.Fixes = []diagnose.Fix{{
		Text:    "Create it, if nothing else should have (a Profile, for example, makes those of its namespace)",
		Command: diagnose.Command("kubectl", "create", "serviceaccount", name, "-n", c.Namespace()),
		Risk:    diagnose.RiskSafe,
	}}
	return cause
}

func explainQuota(c *diagnose.Case, m []string) diagnose.Cause {
	if m[1] == "status unknown" {
		return explainUncountedQuota(c, m[2])
	}
	object, words := "ResourceQuota", "A ResourceQuota"
	if m[1] != "" {
		object += "/" + m[1]
		words = fmt.Sprintf("ResourceQuota %q", m[1])
	}
	detail := strings.Trim(m[2], ", ")
	return diagnose.Cause{
		Object:  object,
		Summary: sentence(fmt.Sprintf("%s of namespace %s is used up, so the Pod of Workspace %s is refused", words, c.Namespace(), c.Name()), detail),
		Origin:  podConfigOrigin,
		Fixes: []diagnose.Fix{
			describeFix(c, "See what uses it up", "resourcequota", m[1]),
			{Text: "Pause a Workspace that nobody needs, or choose a smaller podConfig", Risk: diagnose.RiskDisruptive},
		},
	}
}

// quotaGrace is how long kube-controller-manager may take to count what a new quota is
// about: its queue holds a few seconds' work.
const quotaGrace = time.Minute

// explainUncountedQuota is a quota whose usage is not known yet. The StatefulSet tries
// again by itself.
func explainUncountedQuota(c *diagnose.Case, name string) diagnose.Cause {
	cause := diagnose.Cause{
		Object: "ResourceQuota/" + name,
		State:  diagnose.StatePending,
		Summary: fmt.Sprintf("ResourceQuota %q of namespace %s is not counted yet (status unknown for quota), so the Pod of Workspace %s is refused for now.",
			name, c.Namespace(), c.Name()),
		Fixes: []diagnose.Fix{describeFix(c, "See whether it shows what is used", "resourcequota", name)},
	}
	for _, e := range failedCreates(c) {
		if strings.Contains(e.Message, "status unknown for quota: "+name) && !e.First.IsZero() && c.Now.Sub(e.First) > quotaGrace {
			cause.State = diagnose.StateError
			cause.Summary += fmt.Sprintf(" That has been so for %s: kube-controller-manager, which counts, does not seem to work.", duration.HumanDuration(c.Now.Sub(e.First)))
		}
	}
	return cause
}

func explainQuotaRequires(c *diagnose.Case, m []string) diagnose.Cause {
	return diagnose.Cause{
		Object: "ResourceQuota/" + m[1],
		Summary: fmt.Sprintf("ResourceQuota %q of namespace %s demands values that the Pod of Workspace %s (podConfig %q) does not set: it must specify %s.",
			m[1], c.Namespace(), c.Name(), c.Workspace.Spec.PodTemplate.Options.PodConfig, trimDot(m[2])),
		Origin: podConfigOrigin,
		Fixes: []diagnose.Fix{
			describeFix(c, "See what it demands", "resourcequota", m[1]),
			{Text: "Choose a podConfig that sets them, have them added in the WorkspaceKind, or give the namespace a LimitRange with defaults", Risk: diagnose.RiskDisruptive},
		},
	}
}

func explainLimitRange(c *diagnose.Case, m []string) diagnose.Cause {
	return diagnose.Cause{
		Object: "LimitRange",
		Summary: fmt.Sprintf("A LimitRange of namespace %s refuses the Pod of Workspace %s (podConfig %q): %s.",
			c.Namespace(), c.Name(), c.Workspace.Spec.PodTemplate.Options.PodConfig, strings.TrimRight(trimDot(m[1]), "]")),
		Origin: podConfigOrigin,
		Fixes: []diagnose.Fix{
			describeFix(c, "See the limits", "limitrange", ""),
			{Text: "Choose a podConfig within them", Risk: diagnose.RiskDisruptive},
		},
	}
}

func explainPodSecurity(c *diagnose.Case, m []string) diagnose.Cause {
	cause := diagnose.Cause{
		Object: facts.Ref{Kind: "Namespace", Name: c.Namespace()}.String(),
		Origin: "spec.kind",
		Fixes: []diagnose.Fix{
			inspect("See the level that the namespace enforces", "kubectl", "get", "namespace", c.Namespace(), "--show-labels"),
			{Text: "Have the securityContext and containerSecurityContext of the WorkspaceKind meet it", Risk: diagnose.RiskDisruptive},
		},
	}
	who := fmt.Sprintf("Namespace %s enforces %s, which the Pod of Workspace %s violates", c.Namespace(), m[1], c.Name())
	switch {
	case strings.Contains(m[1], "constraint"):
		who = fmt.Sprintf("No security context constraint that the ServiceAccount may use in namespace %s admits the Pod of Workspace %s", c.Namespace(), c.Name())
		cause.Fixes[0] = inspect("See the constraints (SCC) there are", "kubectl", "get", "securitycontextconstraints")
	case !strings.HasPrefix(m[1], "PodSecurity \""):
		who = fmt.Sprintf("No PodSecurityPolicy that the ServiceAccount may use in namespace %s admits the Pod of Workspace %s", c.Namespace(), c.Name())
		cause.Fixes[0] = inspect("See the policies there are", "kubectl", "get", "podsecuritypolicies")
	}
	cause.Summary = sentence(who, m[2])
	return cause
}

func explainWebhookDenied(c *diagnose.Case, m []string) diagnose.Cause {
	return diagnose.Cause{
		Object:  webhookObject(m[1], m[2]),
		Summary: sentence(fmt.Sprintf("Admission webhook %q denied the Pod of Workspace %s", m[1], c.Name()), m[2]),
		Fixes:   []diagnose.Fix{webhooksFix()},
	}
}

func explainWebhookUnreachable(c *diagnose.Case, m []string) diagnose.Cause {
	how := "does not answer the API server"
	switch {
	case badAnswer.MatchString(m[2]):
		how = "answers in a way that the API server does not understand"
	case strings.Contains(m[2], "x509") || strings.Contains(m[2], "tls: "):
		how = "has a certificate that the API server does not accept"
	}
	cause := diagnose.Cause{
		Object: webhookObject(m[1], m[2]),
		Summary: sentence(fmt.Sprintf("Admission webhook %q %s, so the Pod of Workspace %s cannot be created",
			m[1], how, c.Name()), strings.TrimPrefix(m[2], "failed to call webhook: ")),
	}
	switch {
	case m[1] != "":
	case strings.Contains(m[2], "does not apply"):
		cause.Object = "MutatingWebhook"
		cause.Summary = sentence(fmt.Sprintf("A mutating admission webhook answers with a change that cannot be made to the Pod of Workspace %s; the API server does not say which one", c.Name()), m[2])
	default:
		cause.Object = "MutatingWebhook"
		cause.Summary = sentence(fmt.Sprintf("The API server did not get through the admission of the Pod of Workspace %s in time: one of its webhooks is too slow or does not answer", c.Name()), m[2])
	}
	if service, ns := webhookService(m[2]); service != "" {
		cause.Fixes = append(cause.Fixes, inspect("See whether its Service has Pods behind it", "kubectl", "get", "service,endpoints,pods", "-n", ns))
	}
	cause.Fixes = append(cause.Fixes, webhooksFix())
	return cause
}

// badAnswer is what the API server says of a webhook that does answer.
var badAnswer = regexp.MustCompile(`received (?:invalid webhook response|undecodable patch)|expected response\.uid|expected webhook response of|webhook response of an invalid|invalid character '|could not find the requested resource|an error on the server|unsupported patch type|the server rejected our request`)

func explainPolicyDenied(c *diagnose.Case, m []string) diagnose.Cause {
	return diagnose.Cause{
		Object:  "ValidatingAdmissionPolicy/" + m[1],
		Summary: sentence(fmt.Sprintf("ValidatingAdmissionPolicy %q denied the Pod of Workspace %s", m[1], c.Name()), m[3]),
		Origin:  "spec.podTemplate",
		Fixes: []diagnose.Fix{
			inspect("See what the policy demands", "kubectl", "get", "validatingadmissionpolicy", m[1], "-o", "yaml"),
		},
	}
}

func explainInvalid(c *diagnose.Case, m []string) diagnose.Cause {
	cause := diagnose.Cause{
		Object:  facts.Ref{Kind: "Workspace", Name: c.Name()}.String(),
		Summary: sentence(fmt.Sprintf("The API server finds the Pod of Workspace %s invalid", c.Name()), m[1]),
		Origin:  originOfField(m[1]),
	}
	if c.StatefulSet != nil {
		cause.Object = "StatefulSet/" + c.StatefulSet.Name
		cause.Fixes = []diagnose.Fix{inspect("See the Pod template", "kubectl", "get", "statefulset", c.StatefulSet.Name, "-n", c.Namespace(), "-o", "yaml")}
	}
	if len(m) > 3 {
		cause.Object = m[2] + "/" + m[3]
		cause.Fixes = []diagnose.Fix{inspect("See which there are", "kubectl", "get", strings.ToLower(m[2]))}
	}
	if strings.Contains(m[1], "must be no more than 63") {
		cause.Fixes = append(cause.Fixes, diagnose.Fix{Text: "Use a shorter name: a Workspace cannot be renamed, so make a new one with the same volumes", Risk: diagnose.RiskDisruptive})
	}
	return cause
}

const podConfigOrigin = "spec.podTemplate.options.podConfig"

// originOfField says which field of the Workspace leads to a field of its Pod that the
// API server objects to.
func originOfField(message string) string {
	field, _, _ := strings.Cut(message, ": ")
	switch {
	case strings.HasPrefix(field, "metadata.name"), strings.Contains(message, "must be no more than 63"):
		return "metadata.name"
	case strings.HasPrefix(field, "metadata."):
		return "spec.podTemplate.podMetadata"
	case strings.Contains(field, "volume"):
		return "spec.podTemplate.volumes"
	case strings.Contains(field, "resources"), strings.Contains(field, "toleration"), strings.Contains(field, "affinity"), strings.Contains(field, "nodeSelector"):
		return podConfigOrigin
	case strings.HasSuffix(field, ".image"), strings.Contains(field, ".ports"):
		return "spec.podTemplate.options.imageConfig"
	}
	return "spec.kind"
}

var mutatingWords = regexp.MustCompile(`(?i)mutat|inject|defaulter|apply-|poddefault|admission-webhook-deployment\.|vault\.hashicorp|identity-webhook`)

// webhookObject names a webhook as the object at fault. The API server does not say of
// which kind it is; its name or its URL mostly do.
func webhookObject(name, detail string) string {
	url, _, _ := strings.Cut(detail, ": ")
	if i := strings.Index(detail, `"http`); i >= 0 {
		url, _, _ = strings.Cut(detail[i+1:], `"`)
	} else if !strings.Contains(url, "http") {
		url = "" // a policy's own words say nothing about its kind
	}
	if mutatingWords.MatchString(name) || mutatingWords.MatchString(url) {
		return "MutatingWebhook/" + name
	}
	return "ValidatingWebhook/" + name
}

var servicePattern = regexp.MustCompile(`https://([a-z0-9-]+)\.([a-z0-9-]+)\.svc\b`)

// webhookService finds the Service in the URL of a webhook inside the cluster.
func webhookService(detail string) (service, namespace string) {
	if m := servicePattern.FindStringSubmatch(detail); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

func webhooksFix() diagnose.Fix {
	return inspect("Ask whoever keeps it; this shows where it comes from", "kubectl", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations")
}

func inspect(text string, command ...string) diagnose.Fix {
	return diagnose.Fix{Text: text, Command: diagnose.Command(command...), Risk: diagnose.RiskInspect}
}

// describeFix looks at one object of the namespace, or at all of the kind.
func describeFix(c *diagnose.Case, text, resource, name string) diagnose.Fix {
	command := []string{"kubectl", "describe", resource}
	if name != "" {
		command = append(command, name)
	}
	return inspect(text, append(command, "-n", c.Namespace())...)
}

// sentence ends a statement with a detail in somebody else's words, if there is one, on one
// line.
func sentence(statement, detail string) string {
	if detail = trimDot(strings.Join(strings.Fields(detail), " ")); detail != "" {
		statement += ": " + detail
	}
	return statement + "."
}

func trimDot(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".") }
