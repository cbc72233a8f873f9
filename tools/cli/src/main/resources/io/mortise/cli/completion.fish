# Completion of 'mortise' for fish: commands, options, and names of locks, which it asks the store for.
# Printed by 'mortise completion fish'. To use it:  mortise completion fish > ~/.config/fish/completions/mortise.fish

function __mortise_words
    set -l words (commandline -opc)
    set -l store
    for i in (seq (count $words))
        switch $words[$i]
            case --store
                set store --store=$words[(math $i + 1)]
            case '--store=*'
                set store $words[$i]
        end
    end
    set -l cur (commandline -ct)
    $words[1] completion fish -- $words[2..] "$cur" 2>/dev/null
    if string match -q -- '-*' "$cur" $words[-1]
        return
    end
    if contains -- "$words[2]" run ls show evict
        $words[1] ls --names --limit=200 $store "$cur" 2>/dev/null
    end
end

function __mortise_wraps
    contains -- -- (commandline -opc)
end

complete -c mortise -f
complete -c mortise -n __mortise_wraps -a '(__fish_complete_subcommand --fcs-skip=0)' -F
complete -c mortise -n 'not __mortise_wraps' -a '(__mortise_words)'
