/* All ways in which work can be quadratic without a loop in a loop. Each of them must be found. */

const numbers = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index)

export const QUADRATIC: { readonly [name: string]: (n: number) => unknown } = {
  'a loop in a loop': n => {
    let sum = 0
    for (let a = 0; a < n; a++) for (let b = 0; b < a; b++) sum += b
    return sum
  },
  'a search for each': n => numbers(n).filter(one => numbers(n).includes(n - one)),
  'a search by a function': n => numbers(n).filter((_, __, all) => all.some(other => other === n)),
  // biome-ignore lint/performance/noAccumulatingSpread: it shall be found
  'a list copied for each': n => numbers(n).reduce<readonly number[]>((list, one) => [...list, one], []),
  'an object copied for each': n =>
    // biome-ignore lint/performance/noAccumulatingSpread: it shall be found
    numbers(n).reduce<{ readonly [name: string]: number }>((all, one) => ({ ...all, [`x${one}`]: one }), {}),
  'a rest of a list for each': n => {
    let list = numbers(n)
    while (list.length > 0) list = list.slice(1)
    return list
  },
  'a text looked through for each of its pieces': n => {
    let text = ''
    for (let at = 0; at < n; at++) text += text.includes('nothing') ? 'a' : 'some words'
    return text
  },
  'a text read anew for each of its pieces': n => {
    let text = '"'
    for (let at = 0; at < n; at++) JSON.parse(`${(text += 'some words')}"`)
    return text
  },
  'a list moved up for each': n =>
    numbers(n).reduce<number[]>((list, one) => {
      list.unshift(one)
      return list
    }, []),
}
