package cluster

import "sync"

// maxParallel bounds the requests in flight, so that a Workspace with a hundred
// Secrets does not open a hundred streams at once.
const maxParallel = 16

// Parallel calls f(0) … f(n-1), several at a time, and waits for all of them.
func Parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	wg.Wait()
}
