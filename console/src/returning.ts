import { hrefOf } from './href.ts'

/** Key in `sessionStorage`, which belongs to this browser tab. */
const KEY = 'interlingua.return'

/** Notes the open page before the tab goes to the identity provider, which sends it back to the first page. */
export function noteReturn(): void {
  try {
    sessionStorage.setItem(KEY, location.pathname + location.search + location.hash)
  } catch {
    // Browsers may refuse storage. The sign-in then ends at the first page.
  }
}

/** Goes back to the noted page, once. To be called before the router reads the address. */
export function returnToNoted(): void {
  const noted = takeNoted()
  if (noted?.startsWith(hrefOf('/')) && location.pathname === hrefOf('/')) history.replaceState(null, '', noted)
}

function takeNoted(): string | null {
  try {
    const noted = sessionStorage.getItem(KEY)
    sessionStorage.removeItem(KEY)
    return noted
  } catch {
    return null
  }
}
