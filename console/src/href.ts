/** Path that every page of the console begins with. */
const BASE = '/console'

/** Address of a page for links: `hrefOf('/keys')` is `/console/keys`. A query or fragment may follow the path. */
export const hrefOf = (path: string): string => BASE + path
