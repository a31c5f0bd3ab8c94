import { useLocation } from 'preact-iso'

/** Query parameters of the page's address. In a change, an empty value removes the parameter. */
export type Query = { readonly [name: string]: string | undefined }

/** Hook that returns the query parameters and a function that changes some of them without a new history entry. */
export function useQuery(): readonly [Query, (changes: Query) => void] {
  const { path, query, route } = useLocation()
  const change = (changes: Query): void => {
    const given = Object.entries({ ...query, ...changes }).filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    route(path + (text === '' ? '' : `?${text}`), true)
  }
  return [query, change]
}
