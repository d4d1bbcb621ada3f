//! The words that injections are made of, by what they mean. Written as texts are folded: lower case, Latin letters
//! without accents, no apostrophes.

use super::Classes;
use super::class::{
    AI, ANSWER, ANYTHING, ARE, CIPHER, CODE, DATA, DEVELOPER, DISCARD, DO, ENCODE, EVADE, EVERYTHING, EVIL, FOLLOW,
    FREE, FROM, GUARDED, HIDE, IGNORE, LOOSE, MODE, NEW, NOT, NOW, ON, PERSONA, PHRASE, PRIOR, PROMPT, READ, REFUSE,
    RESTRICT, REVEAL, ROLE, RULES, SEND, SYSTEM, TASK, TELL, TOLD, USER, VERBATIM, VOID, WHAT, WITHOUT, WRITE, YOU,
    YOUR,
};

pub(super) const ENGLISH: &[(Classes, &str)] = &[
    (IGNORE, "ignore ignores ignoring ignored disregard disregarding disregarded forget forgetting forgotten neglect"),
    (
        EVADE,
        "override overriding overrides overwrite bypass bypassing discard abandon drop skip cancel revoke erase wipe
        overlook aside disable deactivate unlearn reset circumvent circumventing violate defy",
    ),
    (
        PRIOR,
        "previous previously prior above earlier preceding former foregoing before initial original existing
        past received learned learnt preset",
    ),
    (
        RULES,
        "instruction instructions rule rules guideline guidelines directive directives command commands
        constraints constraint restrictions restriction limitations programming safeguards guardrails prompt prompts",
    ),
    (
        LOOSE,
        "messages message information context training directions safety policy policies protocols orders guidance
        conversation text said",
    ),
    (TASK, "task tasks assignment assignments job jobs mission objective purpose"),
    (REVEAL, "reveal show print output repeat display leak expose dump disclose recite echo spell divulge"),
    (SYSTEM, "system hidden confidential internal initial underlying secret"),
    (PROMPT, "prompt prompts preprompt systemprompt instructions"),
    (
        WRITE,
        "write list provide share return paste copy summarize summarise translate describe state quote recall
        transcribe insert embed embedding incorporate incorporating integrate integrating include including inclusion
        add adding introduce utilize employ use make",
    ),
    (VERBATIM, "verbatim exactly literally exact wording entire"),
    (VOID, "void revoked canceled cancelled obsolete invalid suspended lifted changed outdated off disabled"),
    (YOUR, "your ur yours"),
    (NOT, "not dont never no cannot cant neither wont doesnt isnt arent stop refuse longer nor none"),
    (
        FOLLOW,
        "follow follows following listen obey adhere comply abide bound confined limited restricted
        constrained heed conform attention apply",
    ),
    (REFUSE, "refuse refuses refusing refusal refused"),
    (TELL, "tell mention inform say disclose reveal telling mentioning informing"),
    (USER, "user users human operator"),
    (YOU, "you youre ur u chatgpt assistant gpt ai"),
    (NOW, "now instead"),
    (
        ROLE,
        "act acting pretend pretending roleplay roleplaying simulate simulating behave impersonate become imagine play
        playing immerse",
    ),
    (FREE, "unrestricted unfiltered uncensored jailbroken amoral unethical unbound unchained lawless freed liberated"),
    (EVIL, "evil rogue malicious unhinged immoral villainous"),
    (
        RESTRICT,
        "restrictions restriction limits limitations filters censorship rules guidelines ethics ethical
        morals moral safeguards boundaries constraints policies confines laws filter norms moderation",
    ),
    (MODE, "mode enabled activated unlocked enable activate enter switch"),
    (PERSONA, "dan stan dude evilbot apophis developermode mongotom jailbreak antigpt"),
    (EVERYTHING, "everything anything all any every entire full complete whole"),
    (ANYTHING, "anything everything whatever"),
    (NEW, "new updated revised actual real"),
    (ARE, "are re be been were youre"),
    (DO, "do doing performing"),
    (FROM, "from"),
    (ON, "on onwards forward"),
    (TOLD, "told instructed programmed asked ordered given learned taught received got gave"),
    (AI, "ai assistant assistants chatbot chatbots chatgpt gpt llm llms model agents"),
    (DEVELOPER, "developer dev admin administrator root sudo god debug maintenance"),
    (WITHOUT, "without no zero ignoring regardless"),
    (WHAT, "what whats which tell give"),
    (ENCODE, "backwards backward reverse reversed rot13 morse acrostic anagram leetspeak caesar riddle encode spell"),
    (CIPHER, "base64 base32 base16 hex hexadecimal binary bytes pseudocode ascii"),
    (GUARDED, "password passwords passphrase passcode secret flag"),
    (HIDE, "hide hiding conceal concealing protecting guarding guard"),
    (SEND, "send sending forward post upload email exfiltrate transmit mail submit append attach"),
    (DATA, "conversation history emails inbox credentials environment cookies keys tokens chats"),
    (READ, "reading processing summarizing summarising analyzing parsing read reads summarizes processes"),
    (ANSWER, "answer response reply output message"),
    (CODE, "code snippet"),
    (PHRASE, "character letter letters word words characters asking confirmation content"),
];

pub(super) const OTHERS: &[(Classes, &str)] = &[
    (
        IGNORE,
        "ignoriere ignorieren ignoriert vergiss vergessen missachte missachten uberschreibe umgehe
        ignora ignorad ignoren ignorar olvida olvidar olvide olvidate descarta omite
        ignorez ignorer oublie oubliez oublier neglige negligez
        dimentica dimenticare ignorare ignorate trascura
        ignore esqueca esquecer desconsidere desconsiderar
        negeer negeren vergeet zignoruj ignoruj zapomnij pomin
        ignorera glom ignorer glem unohda ignorujte zapomen hagyd abaikan lupakan
        игнорируй игнорируйте проигнорируй забудь забудьте отбрось пренебреги ігноруй забудь
        αγνόησε αγνοήστε ξέχασε تجاهل انس אל תתעלם התעלם अनदेखा",
    ),
    (DISCARD, "unut yoksay अनदेखा"),
    (
        PRIOR,
        "vorherigen vorherige bisherigen bisherige obigen obige fruheren fruhere alle allen sammtliche vorher davor zuvor
        ursprunglichen ursprungliche
        anteriores anterior previas previos todas todos antes arriba iniciales
        precedentes precedente precedents toutes tous avant initiales precede
        precedenti tutte tutti sopra prima iniziali
        anteriores previas previo antes acima iniciais
        vorige eerdere voorgaande bovenstaande hierboven poprzednie poprzednich wszystkie wszystkich powyzsze
        tidigare foregaende alla tidligere aiemmat kaikki onceki tum predchozi vsechny korabbi sebelumnya semua truoc
        предыдущие предыдущих предыдущим прошлые все всё всех прежние вышеуказанные раньше выше попередні всі
        προηγούμενες όλες السابقة جميع كل הקודמות כל מכל पिछले सभी",
    ),
    (
        RULES,
        "anweisungen anweisung regeln befehle vorgaben instruktionen richtlinien
        instrucciones instruccion reglas ordenes directrices indicaciones
        instructions consignes regles directives ordres
        istruzioni regole ordini direttive indicazioni
        instrucoes regras ordens diretrizes comandos
        instructies regels opdrachten instrukcje instrukcji polecenia zasady zasadach
        instruktioner regler instruksjoner ohjeet saannot talimatlari talimatlar kurallari pokyny instrukce utasitast
        instruksi perintah
        инструкции инструкций указания правила правилам команды приказы інструкції правила
        οδηγίες κανόνες التعليمات الأوامر القواعد ההוראות הכללים निर्देशों निर्देश",
    ),
    (
        REVEAL,
        "zeige zeig verrate offenbare wiederhole gib muestra muestrame revela repite imprime montre revele
        repete affiche affichez donne mostra rivela ripeti stampa mostre revele repita toon onthul herhaal pokaz ujawnij
        покажи раскрой повтори выведи напиши goster اكشف أظهر vypis tampilkan",
    ),
    (WHAT, "dime dimmi dis sage sag"),
    (PROMPT, "systemanweisung systemaufforderung eingabeaufforderung промпт подсказку aufforderung systemprompt
        systemprompten systeemprompt"),
    (SYSTEM, "sistema systeme systemowy systemowe системный системные системную sistem"),
    (
        YOUR,
        "deine deinen deiner dein tu tus sus tes vos ton votre tue tuo tuoi seu suas seus uw je jouw twoje swoje swoj
        твои твой свой свои ваши din dina svuj",
    ),
    (YOU, "du sie tu vous voce jij ty ты вы sen"),
    (ARE, "bist es eres sei bent jestes"),
    (AI, "ki ia ии интеллект asistente assistent"),
    (WITHOUT, "ohne sans sin senza sem zonder bez без"),
    (
        RESTRICT,
        "einschrankungen beschrankungen grenzen restricciones limites reglas restrizioni limiti restricoes beperkingen
        ograniczen ограничений restriction regle regeln",
    ),
    (ROLE, "spiele verhalte benimm agis fais actua finge agisci fingi aja finja притворись"),
    (NOW, "jetzt ab ahora adesso agora nu teraz теперь maintenant desormais simdi"),
    (ANYTHING | EVERYTHING, "alles todo tout tutto tudo все всё wszystko"),
    (TOLD, "gesagt dicho dit detto dito говорили сказали donnees gegeben"),
    (NOT, "nicht keine kein niemals no nunca pas jamais ne non mai nao niet nooit nie не никогда"),
    (FOLLOW, "folge befolge sigas seguir suivez suis seguire siga volg следуй compte"),
    (USER, "benutzer nutzer usuario utilisateur utente gebruiker uzytkownik пользователю пользователь"),
    (TELL, "sage erzahle erwahne digas diga dis dites dire mentionne dica zeg mow говори сообщай"),
    (LOOSE, "texto texte testo текст"),
    (GUARDED, "passwort contrasena пароль"),
];
