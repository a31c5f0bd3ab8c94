/** Header of requests that the page makes by itself. They do not prolong the session. */
export const BY_ITSELF = { 'x-interlingua-by-itself': 'true' }

/** Events by which a user acts. */
const ACTIONS = ['pointerdown', 'keydown', 'wheel', 'touchmove'] as const

/** True if the user has acted since the last request. Opening the page is an action. */
let hasActed = true

/** Starts to notice actions, once per page load. */
export function noticeActions(): void {
  const notice = (): void => void (hasActed = true)
  for (const action of ACTIONS) document.addEventListener(action, notice, { capture: true, passive: true })
}

/** Headers of the next request: whether the user has acted since the last one. */
export function activityHeaders(): { readonly [name: string]: string } {
  const headers = hasActed ? {} : BY_ITSELF
  hasActed = false
  return headers
}
