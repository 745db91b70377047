/**
 * `paraph completion bash|zsh|fish`: a script for the shell, which completes commands, options and
 * values. It is made of the commands themselves. States, faults and all other values of a fixed
 * list are in the script, so that completing them takes no time; only for AP_IDs and ids of
 * instances it runs `paraph completion-ids`.
 */
import { Argument, type Command, type Option } from 'commander';
import { type AddCommand, ok } from '../command-line/context.ts';
import { worksAt } from '../command-line/place.ts';
import { parseOneOf } from '../command-line/transactions-filter.ts';
import { type IdKind, type Value, valuesOf } from '../command-line/values.ts';

/** A word and what it is for. */
type Offer = readonly [word: string, description: string];

/** Values behind a word: a list, the ids of the service, or a file where nothing is known. */
type Values = readonly Offer[] | IdKind | 'files';

interface Place {
  /** The commands before, each after a blank: ` users add`; empty for `paraph` itself. */
  readonly at: string;
  readonly commands: readonly Offer[];
  readonly options: readonly { readonly offer: Offer; readonly values: Values | undefined }[];
  /** Values of the first argument. */
  readonly values: Values;
}

const offer = (value: Value): Offer => (typeof value === 'string' ? [value, ''] : [...value]);

const offered = (one: Option | Argument | undefined): Values => {
  const values = one && valuesOf(one);
  if (values === undefined) return 'files';
  return typeof values === 'string' ? values : values.map(offer);
};

const placesBelow = (command: Command, at = ''): readonly Place[] => [
  {
    at,
    commands: command.commands.map((each): Offer => [each.name(), each.description()]),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => ({
        offer: [option.long ?? '', option.description] as const,
        values: option.required ? offered(option) : undefined,
      })),
    values: offered(command.registeredArguments[0]),
  },
  ...command.commands.flatMap((each) => placesBelow(each, `${at} ${each.name()}`)),
];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** What may stand at a place: commands, values of a list, options. */
const offersOf = ({ commands, values, options }: Place): readonly Offer[] => [
  ...commands,
  ...(typeof values === 'string' ? [] : values),
  ...options.map((option) => option.offer),
];

const known = (places: readonly Place[]): string =>
  places
    .slice(1)
    .map(({ at }) => quoted(at))
    .join('|');

/** Where values follow: the commands and the last word, such as ` ls --state`. */
const valuePlaces = (places: readonly Place[]): readonly (readonly [string, Values])[] =>
  places.flatMap(({ at, options, values }) => [
    ...options.flatMap((option) =>
      option.values === undefined ? [] : [[`${at} ${option.offer[0]}`, option.values] as const],
    ),
    ...(typeof values === 'string' && values !== 'files'
      ? [[`${at} ${at.split(' ').at(-1)}`, values] as const]
      : []),
  ]);

const idsFor = (kind: string, to: string): string =>
  `paraph completion-ids ${kind} ${to} 2>/dev/null </dev/null`;

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

const scripts: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: (places) => `# To use it now: source <(paraph completion bash)
_paraph() {
  local at= each before=paraph current words= left n=0
  local -a typed to
  # Bash takes words apart at colons, which AP_IDs have.
  for each in "\${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if ((n > 0)) && [[ $each == :* || \${typed[n-1]} == *: ]]; then typed[n-1]+=$each
    else typed[n]=$each; n=$((n + 1)); fi
  done
  current=\${typed[n-1]}
  for each in "\${typed[@]:1:n-2}"; do
    case "$before" in --url|--token-env) to+=("$before" "$each") ;; esac
    case "$at $each" in ${known(places)}) at="$at $each" ;; esac
    before=$each
  done
  case "$current" in -*) ;; *) case "$at $before" in
${valuePlaces(places)
  .map(([place, values]) => {
    if (values === 'files') return `    ${quoted(place)}) return ;;`;
    const words =
      typeof values === 'string'
        ? `"$(${idsFor(values, `"\${to[@]}"`)}) "`
        : quoted(values.map(([word]) => word).join(' '));
    return `    ${quoted(place)}) words=${words} ;;`;
  })
  .join('\n')}
  esac ;; esac
  [[ -n $words ]] || case "$at" in
${places
  .map(
    (place) =>
      `    ${quoted(place.at)}) words=${quoted(
        offersOf(place)
          .map(([word]) => word)
          .join(' '),
      )} ;;`,
  )
  .join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  # What stands before the last colon is there already.
  left=\${current%"\${current##*:}"}
  COMPREPLY=("\${COMPREPLY[@]#"$left"}")
}
complete -o default -F _paraph paraph
`,
  zsh: (places) => `#compdef paraph
# To use it now, after compinit: source <(paraph completion zsh)
_paraph() {
  local at= each before=paraph
  local -a found to
  for each in "\${(@)words[2,CURRENT-1]}"; do
    case "$before" in (--url|--token-env) to+=("$before" "$each") ;; esac
    case "$at $each" in (${known(places)}) at="$at $each" ;; esac
    before=$each
  done
  [[ "\${words[CURRENT]}" == -* ]] || case "$at $before" in
${valuePlaces(places)
  .map(([place, values]) => {
    if (values === 'files') return `    (${quoted(place)}) _files; return ;;`;
    if (typeof values === 'string')
      return `    (${quoted(place)}) compadd -- \${(f)"$(${idsFor(values, '$to')})"}; return ;;`;
    return `    (${quoted(place)}) found=(${zshOffers(values)}); _describe value found; return ;;`;
  })
  .join('\n')}
  esac
  case "$at" in
${places.map((place) => `    (${quoted(place.at)}) found=(${zshOffers(offersOf(place))}) ;;`).join('\n')}
  esac
  _describe paraph found || _files
}
# From a directory of fpath, zsh runs this file as the function, for the first Tab.
if [[ "$funcstack[1]" == _paraph ]]; then _paraph; else compdef _paraph paraph; fi
`,
  fish: (places) => `# To use it now: paraph completion fish | source
function __paraph_at
  set -l at ''
  for each in (commandline -opc)[2..]
    switch "$at $each"
      case ${known(places).replaceAll('|', ' ')}
        set at "$at $each"
    end
  end
  test "$at" = "$argv[1]"
end
function __paraph_first
  __paraph_at "$argv[1]"; and test (commandline -opc)[-1] = "$argv[2]"
end
function __paraph_ids
  set -l before ''
  set -l to
  for each in (commandline -opc)
    contains -- $before --url --token-env; and set -a to $before $each
    set before $each
  end
  ${idsFor('$argv[1]', '$to')}
end
${places.flatMap(fishLines).join('\n')}
`,
};

/** Zsh divides word and description at the first colon that is not escaped. */
const zshOffers = (offers: readonly Offer[]): string =>
  offers
    .map(([word, description]) => quoted(`${word.replaceAll(':', '\\:')}:${description}`))
    .join(' ');

/** Fish runs the text of `-a` itself. */
const fishValues = (values: Exclude<Values, 'files'>): string =>
  typeof values === 'string'
    ? quoted(`(__paraph_ids ${values})`)
    : quoted(values.map(([word]) => word).join(' '));

function fishLines({ at, commands, values, options }: Place): readonly string[] {
  const here = `complete -c paraph -n ${quoted(`__paraph_at "${at}"`)}`;
  const first = `complete -c paraph -n ${quoted(`__paraph_first "${at}" "${at.split(' ').at(-1)}"`)}`;
  const lists = typeof values === 'string' ? [] : values;
  return [
    ...[...commands, ...lists].map(([word, what]) => `${here} -f -a ${word} -d ${quoted(what)}`),
    ...(typeof values === 'string' && values !== 'files'
      ? [`${first} -f -a ${fishValues(values)}`]
      : []),
    ...options.map(({ offer: [word, what], values: own }) => {
      const option = `${here} -l ${word.slice(2)} -d ${quoted(what)}`;
      if (own === undefined) return option;
      return own === 'files' ? `${option} -r` : `${option} -x -a ${fishValues(own)}`;
    }),
  ];
}

export const addCompletion: AddCommand = (program, _, done) => {
  const command = program
    .command('completion')
    .description('print a script that completes commands, options and values')
    .addArgument(
      new Argument('<shell>', 'for which shell')
        .choices(shells)
        .argParser(parseOneOf('The shell', shells)),
    )
    .action((shell: Shell) => {
      const script = scripts[shell](placesBelow(program));
      done(ok({ shell, script }, script));
    });
  worksAt('here', command);
};
