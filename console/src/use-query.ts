import { useLocation } from 'preact-iso'

/** Parameters of the page's address; an empty value takes one away. */
export type Query = { readonly [name: string]: string | undefined }

/** What the page's address says, and how to change it: such a change is no step of the history. */
export function useQuery(): readonly [Query, (changes: Query) => void] {
  const { path, query, route } = useLocation()
  const change = (changes: Query): void => {
    const given = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    route(path + (text === '' ? '' : `?${text}`), true)
  }
  return [query, change]
}
