/**
 * Returns a function that loads something on its first call and returns the same to all further calls. A failed load is
 * tried again by the next call, because a process without free file descriptors or memory fails to load even its own
 * files.
 */
export function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch(thrown => {
      loading = undefined
      throw thrown
    })
    return loading
  }
}
