/**
 * Validates the name of a new key or group. Names appear in lists and logs, and the admin API accepts the same ones.
 *
 * @throws Error describing what is wrong.
 */
export function checkName(name: string): void {
  if (name.trim() === '' || name.length > 200) throw new Error('a name must have 1 to 200 characters')
  if (!PRINTABLE.test(name)) throw new Error('a name must not contain control characters')
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u
