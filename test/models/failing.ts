/** How a call of the store fails: before anything happened, or after it was done, so that only its answer is lost. */
export type Failure = 'before' | 'after'

/** Decides how the next call of a method fails. Undefined if it works. */
export type NextFailure = (method: string) => Failure | undefined

type Method = (...given: unknown[]) => Promise<unknown>

/**
 * Returns a repository whose calls fail as told.
 *
 * @param error the error of a failed call.
 */
export function failing<Repository extends object>(
  repository: Repository,
  next: NextFailure,
  error: () => Error,
): Repository {
  return new Proxy(repository, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function') return method
      return async (...given: unknown[]) => {
        const failure = next(String(name))
        if (failure === 'before') throw error()
        const done = await (method as Method).apply(target, given)
        if (failure === 'after') throw error()
        return done
      }
    },
  })
}
