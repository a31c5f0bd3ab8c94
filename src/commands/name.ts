/**
 * Checks the name of a key or a group that is made: it stands in lists, in the log and in answers of the admin API, which
 * takes the same names.
 *
 * @throws Error with what is wrong.
 */
export function checkName(name: string): void {
  if (name.trim() === '' || name.length > 200) throw new Error('a name has 1 to 200 characters')
  if (!PRINTABLE.test(name)) throw new Error('a name holds no control characters')
}

const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u
