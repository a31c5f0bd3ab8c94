/**
 * Returns a pseudo-random number for a name. The name with the smallest number is selected, with a probability in
 * proportion to its weight (weighted rendezvous hashing). The number does not depend on the other names, so adding or
 * removing a name does not change the order of the others.
 *
 * @param draw the seed: the id of a request, or of a conversation whose selection must not change.
 */
export function drawOf(draw: string, name: string, weight: number): number {
  const uniform = (hash(`${draw}\n${name}`) + 0.5) / 2 ** 32
  return weight > 0 ? -Math.log(uniform) / weight : Number.MAX_VALUE
}

/** FNV-1a with a final mixing step. Returns an unsigned 32-bit number. */
function hash(text: string): number {
  let value = 0x811c9dc5
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193)
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
