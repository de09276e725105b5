package diagnose

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

const (
	// firstProbation is for a container that is Ready for no other reason than that its
	// process has started.
	firstProbation = 5 * time.Second
	// maxProbation bounds what an earlier crash adds.
	maxProbation = time.Minute
)

// Probation tells for how long a Pod that is Ready has to stay up, and since when it is up,
// before that means anything. A container without a readiness probe is Ready as soon as its
// process has started, and so is one that crashes a few seconds later, again and again:
//
//   - A container with a readiness probe that has never crashed has no probation: the program
//     has answered.
//   - One without must stay up for five seconds.
//   - One whose last run has failed after less than ten minutes must stay up five seconds
//     longer than that run did, at most a minute longer.
func Probation(pod *corev1.Pod) (since time.Time, length time.Duration) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Running == nil {
			continue // an init container that is done
		}
		if started := s.State.Running.StartedAt.Time; started.After(since) {
			since = started
		}
		length = max(length, probationOf(pod, s))
	}
	return since, length
}

func probationOf(pod *corev1.Pod, s corev1.ContainerStatus) time.Duration {
	if last := s.LastTerminationState.Terminated; last != nil && last.ExitCode != 0 {
		if ran := last.FinishedAt.Sub(last.StartedAt.Time); ran >= 0 && ran < StableAfter {
			return min(ran, maxProbation) + firstProbation
		}
	}
	probed := slices.ContainsFunc(slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers), func(c corev1.Container) bool {
		return c.Name == s.Name && c.ReadinessProbe != nil
	})
	if probed {
		return 0
	}
	return firstProbation
}
