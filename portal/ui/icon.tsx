/** The outlines of the icons, in a square of 20. */
const PATHS = {
  close: 'M5 5l10 10M15 5L5 15',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  sort: 'M6 8l4-4 4 4M6 12l4 4 4-4',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  copy: 'M7 7V4h9v9h-3M4 7h9v9H4z',
  check: 'M4 10.5l4 4 8-9',
  search: 'M13.500 13.500L17 17M15 9A6 6 0 1 1 3 9a6 6 0 0 1 12 0z',
  plus: 'M10 4v12M4 10h12',
  download: 'M10 3v9m-4-4l4 4 4-4M4 16h12',
  columns: 'M3 4h14v12H3zM8 4v12M12.500 4v12',
  calendar: 'M3 5h14v12H3zM3 9h14M7 3v3M13 3v3',
  help: 'M7.500 7.500a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M10 14.500v.5M18 10a8 8 0 1 1-16 0 8 8 0 0 1 16 0z',
  person: 'M13 7a3 3 0 1 1-6 0 3 3 0 0 1 6 0zM4 17c.5-3.500 3-5 6-5s5.500 1.500 6 5',
  menu: 'M3 5h14M3 10h14M3 15h14',
  refresh: 'M16 10a6 6 0 1 1-1.800-4.300M16 3v4h-4',
  send: 'M3 10l14-6-5 13-3-5.500z',
  chart: 'M3 17h14M5 14V9M10 14V4M15 14v-3',
  wallet: 'M3 6h13a1 1 0 0 1 1 1v9H4a1 1 0 0 1-1-1zM3 6l10-3v3M13.500 11.500h.5',
  out: 'M10 13V4m-4 4l4-4 4 4M4 13v3h12v-3',
  back: 'M7 4L3.500 7.500 7 11M3.500 7.500H12a4.250 4.250 0 0 1 0 8.500H6',
  list: 'M3 5h14M3 10h14M3 15h9',
  link: 'M8 12l4-4M9 5.500l1-1a3.900 3.900 0 0 1 5.500 5.500l-1 1M11 14.500l-1 1A3.900 3.900 0 0 1 4.500 10l1-1',
  switch: 'M6.500 5h7a5 5 0 0 1 0 10h-7a5 5 0 0 1 0-10zM13.500 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  shield: 'M10 2l6.500 2.500V10c0 4-3 6.500-6.500 8-3.500-1.500-6.500-4-6.500-8V4.500zM7 10l2 2 4-4',
  bank: 'M2.500 8L10 3l7.500 5zM4.500 8v7M8.200 8v7M11.800 8v7M15.500 8v7M2.500 17h15',
  flag: 'M5 18V3h10l-2.500 3.500L15 10H5',
  lock: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3M10 12v2',
  key: 'M9 11a4 4 0 1 1 1.500-3.100L17 14.500V17h-3v-2h-2v-2z',
  people:
    'M10 7a2.500 2.500 0 1 1-5 0 2.500 2.500 0 0 1 5 0zM2 16c.4-3 2.500-4.500 5.500-4.500s5.100 1.500 5.500 4.500M13 4.700a2.500 2.500 0 0 1 0 4.600M14.500 11.800c2 .5 3.200 2 3.500 4.200',
  history: 'M4 4v4h4M4.500 8A6.500 6.500 0 1 1 3.700 12M10 6.500V10l2.500 2',
  terminal: 'M3 4h14v12H3zM6 8l2.500 2L6 12M10.500 12.500h3.500',
  bolt: 'M11 2L4 11h5l-1 7 7-9h-5z',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text, or in a button that has a name. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 20 20"
      aria-hidden="true"
      className={`size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
