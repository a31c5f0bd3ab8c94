import { common } from './i18n/common.ts'

/** Address of the page that is shown. After a press of the back button, the browser's address is already another one. */
let shown = ''

/** Notes the address of the page that is shown. */
export const noteShown = (url: string): void => {
  shown = url
}

/** Returns true if a dialog has typed text, or a secret that is shown only once. */
export const hasContent = (): boolean => document.querySelector('dialog[data-once], dialog form[data-typed]') !== null

/**
 * Asks before the browser's back button, a reload or the end of the tab loses typed text or a secret. To be called before
 * the router listens, which would change the page.
 */
export function askBeforeLeaving(): void {
  addEventListener('popstate', event => {
    if (!hasContent() || confirm(common().leave)) return
    event.stopImmediatePropagation()
    history.pushState(null, '', shown)
  })
  addEventListener('beforeunload', event => {
    if (hasContent()) event.preventDefault()
  })
}
