/** What an object, a list and each of their fields take, roughly. */
const NODE = 48
/** The engine keeps a text in one byte a character or in two. */
const CHARACTER = 2

/** Bytes that a value of JSON takes in memory, rather too many than too few; however deep it is. */
export function weightOf(value: unknown): number {
  const left = [value]
  let weight = 0
  while (left.length > 0) {
    const one = left.pop()
    weight += NODE
    if (typeof one === 'string') weight += one.length * CHARACTER
    else if (typeof one === 'object' && one !== null) for (const field of Object.values(one)) left.push(field)
  }
  return weight
}
