# bash completion for cofferctl, written by `cofferctl completion bash`; to use it: source <(cofferctl completion bash)
_cofferctl() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} where= kind= options= words=
    COMPREPLY=()
    (( COMP_CWORD > 1 )) && where=${COMP_WORDS[1]}
    case $where in
        config|import|stores) (( COMP_CWORD > 2 )) && where+=" ${COMP_WORDS[2]}" ;;
    esac
    case "$where:$previous" in
        'recall:--mode') kind='keyword grep vector hybrid' ;;
        'recall:-k'|'recall:--since'|'remember:--title'|'remember:--description'|'remember:--agent'|'remember:--session'|'digest:--since'|'list:--limit'|'list:--sort'|'log:--actor'|'log:--event'|'log:--since'|'log:-n'|'show:--at'|'edit:--title'|'edit:--description'|'edit:--expect'|'restore:--from'|'review:--since'|'supersede:--title'|'supersede:--description'|'supersede:--agent'|'supersede:--session') kind='any' ;;
        'recall:--lane') kind='inbox topics journal knowledge' ;;
        'recall:--scope'|'remember:--scope'|'blame:--scope'|'diff:--scope'|'digest:--scope'|'list:--scope'|'log:--scope'|'show:--scope'|'status:--scope'|'edit:--scope'|'forget:--scope'|'move:--scope'|'restore:--scope'|'review:--scope'|'supersede:--scope'|'undo:--scope'|'doctor:--scope'|'export:--scope'|'import jsonl:--scope'|'import markdown:--scope'|'reindex:--scope') kind='project global both' ;;
        'recall:--store'|'remember:--store'|'blame:--store'|'diff:--store'|'digest:--store'|'list:--store'|'log:--store'|'show:--store'|'status:--store'|'edit:--store'|'forget:--store'|'move:--to'|'move:--store'|'restore:--store'|'review:--store'|'supersede:--store'|'undo:--store'|'doctor:--store'|'export:--store'|'import jsonl:--store'|'import markdown:--store'|'reindex:--store') kind='store' ;;
        'recall:-C'|'remember:-C'|'blame:-C'|'diff:-C'|'digest:-C'|'list:-C'|'log:-C'|'show:-C'|'status:-C'|'where:-C'|'edit:-C'|'forget:-C'|'move:-C'|'restore:-C'|'review:-C'|'supersede:-C'|'undo:-C'|'completion:-C'|'config get:-C'|'config set:-C'|'config list:-C'|'doctor:-C'|'export:-C'|'import jsonl:-C'|'import markdown:-C'|'reindex:-C'|'stores list:-C'|'stores show:-C'|'stores link:-C'|'stores label:-C'|'stores config:-C'|'stores clear:-C'|'stores delete:-C') kind='directory' ;;
        'remember:--actor') kind='user agent' ;;
        'list:--lane'|'log:--lane'|'export:--lane'|'stores clear:--lane') kind='inbox topics knowledge rules journal handoff superseded all' ;;
        'export:--format') kind='jsonl markdown' ;;
        'export:--output') kind='file' ;;
    esac
    if [[ -z $kind ]]; then
        case $where in
            '') kind='recall remember blame diff digest list log show status where edit forget move restore review supersede undo completion config doctor export import reindex stores' options='--version --help' ;;
            'recall') kind='any' options='--mode -k --lane --since --explain --regex --ignore-case --case-sensitive --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'remember') kind='any' options='--title --description --actor --agent --session --allow-secret --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'blame') kind='any' options='--scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'diff') kind='any' options='--scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'digest') kind='any' options='--since --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'list') kind='any' options='--lane --limit --sort --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'log') kind='any' options='--lane --actor --event --since -n -p --patch --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'show') kind='any' options='--at --raw --reveal --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'status') kind='any' options='--scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'where') kind='any' options='-C --json -q --quiet --debug --no-color --help' ;;
            'edit') kind='any' options='--title --description --expect --allow-secret --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'forget') kind='any' options='--yes --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'move') kind='any' options='--to --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'restore') kind='any' options='--from --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'review') kind='any' options='--since --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'supersede') kind='any' options='--title --description --agent --session --allow-secret --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'undo') kind='any' options='--dry-run --yes --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'completion') kind='bash zsh fish' options='-C --json -q --quiet --debug --no-color --help' ;;
            'config') kind='get set list' options='--help' ;;
            'config get') kind='any' options='-C --json -q --quiet --debug --no-color --help' ;;
            'config set') kind='any' options='-C --json -q --quiet --debug --no-color --help' ;;
            'config list') kind='any' options='-C --json -q --quiet --debug --no-color --help' ;;
            'doctor') kind='any' options='--fix --yes --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'export') kind='any' options='--format --output --lane --reveal --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'import') kind='jsonl markdown' options='--help' ;;
            'import jsonl') kind='file' options='--dry-run --allow-secret --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'import markdown') kind='file' options='--dry-run --allow-secret --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'reindex') kind='any' options='--full --scope --store -C --json -q --quiet --debug --no-color --help' ;;
            'stores') kind='list show link label config clear delete' options='--help' ;;
            'stores list') kind='any' options='-C --json -q --quiet --debug --no-color --help' ;;
            'stores show') kind='store' options='-C --json -q --quiet --debug --no-color --help' ;;
            'stores link') kind='store' options='--yes -C --json -q --quiet --debug --no-color --help' ;;
            'stores label') kind='store' options='-C --json -q --quiet --debug --no-color --help' ;;
            'stores config') kind='store' options='-C --json -q --quiet --debug --no-color --help' ;;
            'stores clear') kind='store' options='--lane --yes -C --json -q --quiet --debug --no-color --help' ;;
            'stores delete') kind='store' options='--yes -C --json -q --quiet --debug --no-color --help' ;;
        esac
        [[ $current == -* ]] && words=$options kind=
    fi
    case $kind in
        store) words=$(cofferctl stores list 2>/dev/null | cut -f1) ;;
        file|directory|any) ;;
        ?*) words=$kind ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}

complete -o default -F _cofferctl cofferctl
