/**
 * Keeps the keyboard's place when the focused element is removed: a row that was deleted, a button that became a text.
 * The focus moves to the nearest element around it that can take it, at last to the content.
 */
export function keepFocus(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof Element) around = pathOf(target)
  })
  new MutationObserver(() => {
    if (document.activeElement !== null && document.activeElement !== document.body) return
    if (around.length === 0 || around[0]!.isConnected) return
    const dialog = document.querySelector<HTMLElement>('dialog[open]')
    const left = around.find(one => one.isConnected && one !== document.body && (dialog?.contains(one) ?? true))
    const next = left === undefined ? dialog : takerIn(left)
    ;(next ?? document.getElementById('content'))?.focus({ preventScroll: true })
  }).observe(document.body, { childList: true, subtree: true })
}

/** The focused element and those around it, from the inside out. */
let around: readonly Element[] = []

function pathOf(target: Element): readonly Element[] {
  const path: Element[] = []
  for (let one: Element | null = target; one !== null; one = one.parentElement) path.push(one)
  return path
}

const TAKERS = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea, [tabindex]'

/** The element itself if it can take the focus, else the first inside that can. */
const takerIn = (element: Element): HTMLElement | null =>
  element.matches(TAKERS) ? (element as HTMLElement) : element.querySelector<HTMLElement>(TAKERS)
