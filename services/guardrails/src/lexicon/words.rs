//! The words, by what they mean. Written as texts are folded: lower case, no accents, no apostrophes.

use super::Classes;
use super::class::{
    AI, ANYTHING, ARE, CARD, DEVELOPER, DISCARD, DO, EVADE, EVERYTHING, FOLLOW, FREE, FROM, ID, IGNORE, ITIN, LOOSE,
    MODE, NEW, NOT, NOW, NUMBER, ON, OTHER_NUMBER, PASSWORD, PERSONA, PHONE, PRIOR, PROMPT, RESTRICT, REVEAL, ROLE,
    RULES, SECRET, SSN, SYSTEM, TELL, TOLD, TOXIC, TOXIC_SEVERE, USER, VERSION, WALLET, WHAT, WHOSE, WITHOUT, YOU,
    YOUR,
};

pub(super) const TABLE: &[(Classes, &str)] = &[
    // Context of numbers.
    (
        PHONE,
        "phone phones telephone telephones tel mobile mob cell cellphone cellular call calls called calling caller
        fax contact contacts reach reached dial dialed dialing ring sms whatsapp signal hotline helpline voicemail
        landline answering callback pager phonenumber phoneno msisdn texted rings ringing tollfree toll hotlines
        telefon telefonnummer rufnummer handy handynummer mobil mobilfunk anruf anrufen ruf tlf mobilnummer
        telefono celular movil llamar llame llamame llamada cellulare chiamare chiama chiamami fisso
        telephoner appeler appelez appelle portable joindre mobiele telefoon telefoonnummer bellen gsm
        telefone ligar ligue telemovel puhelin puhelinnumero puh soita ring zadzwon dzwonic komorka numertelefonu
        telefonszam telefonszama telefonszamom hivjon telepono telepon telpon ponsel arayin telefonu telefonum
        telefonumu cep ara rufen rufe ruft rufnr festnetz telefonnr telefoon telefonni telefonnummeret thoai ligando
        ligacao zavolejte volejte zvonete sunati nazovite тел телефон телефону позвоните звоните звонить мобильный
        τηλεφωνο κινητο טלפון נייד هاتف جوال اتصل फोन मोबाइल โทร โทรศัพท์",
    ),
    (
        CARD,
        "card cards creditcard cc visa mastercard amex maestro discover pan debit credit ccnum cardnumber kreditkarte
        kartennummer tarjeta carte bancaire carta credito cartao kreditkort pankkikortti luottokortti karta karte kart
        creditcardnumber карта карты карту",
    ),
    (SSN, "ssn ssns social socialsecurity ssnumber ss"),
    (ITIN, "itin taxpayer tin"),
    (
        ID,
        "identity identification national citizen passport personal tax taxid fiscal insurance
        resident ausweis personalausweis steuer steuernummer steueridentifikationsnummer idnr steuerid
        sozialversicherung rentenversicherung krankenversicherung dni nie nif codice fiscale bsn burgerservicenummer
        pesel personnummer hetu henkilotunnus cpf cnpj aadhaar aadhar pan sin nino nhs medicare tfn abn nric fin
        numero insee securite sociale nir ahv avs rrn tckn kimlik curp rfc rut egn cnp oib inn snils
        инн снилс паспорт npi aba routing taxpayer vat ust umsatzsteuer steuernr identitetsnummer
        fodselsnummer cprnummer cpr rodne cislo isikukood asmens kodas personas kods jmbg emso",
    ),
    (
        OTHER_NUMBER,
        "order orders invoice ticket account acct serial tracking shipment parcel isbn issn zip postal
        postcode zipcode reference ref case sku part item product model build revision chapter page pages article
        section figure table score population patent grant bug issue pr commit port line lines row rows version
        kontonummer rechnung bestellung auftrag commande facture pedido factura ordine fattura konto
        license licence licencia",
    ),
    (NUMBER, "number numbers nummer numero num no nr"),
    (WHOSE, "my your his her their our me him them us"),
    (VERSION, "version versions ver v release firmware build upgrade upgraded"),
    (
        PASSWORD,
        "password passwords passwd pwd passphrase passcode passwort kennwort contrasena senha motdepasse
        wachtwoord haslo пароль userpassword dbpassword pgpassword",
    ),
    (
        SECRET,
        "secret secrets token tokens apikey apikeys accesskey secretkey privatekey credential credentials bearer
        authorization authtoken accesstoken clientsecret key keys signature webhooksecret connectionstring",
    ),
    (WALLET, "wallet bitcoin btc ethereum eth crypto usdt tron litecoin ltc monero xmr address"),
    // Injection, English.
    (IGNORE, "ignore ignores ignoring ignored disregard disregarding disregarded forget forgetting forgotten neglect"),
    (EVADE, "override overriding overrides overwrite bypass bypassing discard abandon"),
    (
        PRIOR,
        "previous previously prior above earlier preceding former foregoing before initial original existing
        past received learned learnt preset",
    ),
    (
        RULES,
        "instruction instructions rule rules guideline guidelines directive directives command commands orders
        constraints constraint restrictions restriction limitations programming safeguards guardrails prompt prompts",
    ),
    (
        LOOSE,
        "messages message information context training task tasks directions safety policy policies protocols
        conversation text said everything",
    ),
    (REVEAL, "reveal show print output repeat display leak expose dump disclose recite echo spell"),
    (SYSTEM, "system hidden confidential internal initial underlying"),
    (PROMPT, "prompt prompts preprompt systemprompt instructions"),
    (YOUR, "your ur yours"),
    (NOT, "not dont never no cannot cant neither wont doesnt isnt arent stop refuse longer nor"),
    (
        FOLLOW,
        "follow follows following listen obey adhere comply abide bound confined limited restricted
        constrained heed conform",
    ),
    (TELL, "tell mention inform notify alert say disclose reveal"),
    (USER, "user users human humans operator"),
    (YOU, "you youre ur u chatgpt assistant gpt ai"),
    (NOW, "now"),
    (ROLE, "act pretend roleplay simulate behave impersonate become"),
    (FREE, "unrestricted unfiltered uncensored jailbroken amoral unethical unbound unchained lawless"),
    (
        RESTRICT,
        "restrictions restriction limits limitations filters censorship rules guidelines ethics ethical
        morals moral safeguards boundaries constraints policies confines laws filter",
    ),
    (MODE, "mode enabled activated unlocked"),
    (PERSONA, "dan stan dude evilbot apophis developermode mongotom jailbreak"),
    (EVERYTHING, "everything anything all any every"),
    (NEW, "new updated revised actual real"),
    (ARE, "are re be youre"),
    (ANYTHING, "anything"),
    (DO, "do"),
    (FROM, "from"),
    (ON, "on onwards forward"),
    (TOLD, "told instructed programmed asked ordered given learned taught received got"),
    (AI, "ai assistant chatbot chatgpt gpt llm model"),
    (DEVELOPER, "developer dev admin administrator root sudo god debug maintenance"),
    (WITHOUT, "without no zero ignoring regardless beyond"),
    (WHAT, "what whats which tell give"),
    // Injection, other languages.
    (
        IGNORE,
        "ignoriere ignorieren ignoriert vergiss vergessen missachte missachten uberschreibe umgehe
        ignora ignorad ignoren ignorar olvida olvidar olvide descarta omite
        ignorez ignorer oublie oubliez oublier neglige negligez
        dimentica dimenticare ignorare ignorate trascura
        ignore esqueca esquecer desconsidere desconsiderar
        negeer negeren vergeet zignoruj ignoruj zapomnij pomin
        ignorera glom ignorer glem unohda
        игнорируй игнорируйте проигнорируй забудь забудьте отбрось пренебреги ігноруй забудь
        تجاهل انس אל תתעלם התעלם",
    ),
    (DISCARD, "unut yoksay"),
    (
        PRIOR,
        "vorherigen vorherige bisherigen bisherige obigen obige fruheren fruhere alle allen sammtliche
        anteriores anterior previas previos todas todos
        precedentes precedente precedents toutes tous
        precedenti tutte tutti sopra
        anteriores previas previo
        vorige eerdere voorgaande bovenstaande poprzednie poprzednich wszystkie powyzsze
        tidigare foregaende alla tidligere aiemmat kaikki onceki tum
        предыдущие предыдущих прошлые все всё всех прежние вышеуказанные попередні всі
        السابقة جميع كل הקודמות כל पिछले सभी",
    ),
    (
        RULES,
        "anweisungen anweisung regeln befehle vorgaben instruktionen richtlinien
        instrucciones instruccion reglas ordenes directrices indicaciones
        instructions consignes regles directives ordres
        istruzioni regole ordini direttive indicazioni
        instrucoes regras ordens diretrizes comandos
        instructies regels opdrachten instrukcje instrukcji polecenia zasady
        instruktioner regler instruksjoner ohjeet saannot talimatlari talimatlar kurallari
        инструкции инструкций указания правила команды приказы інструкції правила
        التعليمات الأوامر القواعد ההוראות הכללים निर्देशों निर्देश",
    ),
    (
        REVEAL,
        "zeige zeig verrate offenbare wiederhole gib muestra muestrame revela repite imprime montre revele
        repete affiche donne mostra rivela ripeti stampa mostre revele repita toon onthul herhaal pokaz ujawnij
        покажи раскрой повтори выведи напиши goster اكشف أظهر",
    ),
    (PROMPT, "systemanweisung systemaufforderung eingabeaufforderung промпт подсказку aufforderung"),
    (SYSTEM, "sistema systeme systemowy systemowe системный системные системную"),
    (YOUR, "deine deinen deiner dein tus sus tes vos ton votre tue tuoi suas seus uw twoje swoje твои твой свои ваши"),
    (YOU, "du sie tu vous voce jij ty ты вы sen"),
    (NOW, "jetzt ab ahora adesso agora nu teraz теперь maintenant desormais simdi"),
    (NOT, "nicht keine kein niemals no nunca pas jamais ne non mai nao niet nooit nie не никогда"),
    (USER, "benutzer nutzer usuario utilisateur utente gebruiker uzytkownik пользователю пользователь"),
    (TELL, "sage erzahle erwahne digas diga dis dites dire mentionne dica zeg mow говори сообщай"),
    // Toxicity: insults, slurs, threats. Folded for obfuscation where they are looked up.
    (
        TOXIC,
        "fuck fucks fucked fucker fuckers fucking fuckin fck fcking fuk motherfucker motherfuckers motherfucking
        shit shits shitty bullshit shithead shithole asshole assholes arsehole dumbass jackass dickhead bitch bitches
        bitching bastard bastards wanker wankers twat twats prick pricks moron morons imbecile cocksucker douchebag
        dipshit stfu gtfo scumbag scumbags slut sluts whore whores cunts cunt pussy piss pissed bollocks
        arschloch scheisse scheiss fotze wichser hurensohn missgeburt schlampe hure
        puta puto mierda cabron gilipollas pendejo hijueputa joder maricon
        merde connard connasse salope encule putain batard pute
        stronzo stronza cazzo vaffanculo puttana merda coglione
        caralho porra foda viado arrombado filhodaputa
        kut klootzak godverdomme hoer kanker eikel kurwa chuj skurwysyn pierdol spierdalaj
        блять блядь сука хуй пизда пиздец ебать мудак гандон сволочь ублюдок
        orospu siktir amk",
    ),
    (
        TOXIC | TOXIC_SEVERE,
        "nigger niggers nigga niggas faggot faggots fag fags kike kikes spic spics chink chinks
        gook gooks wetback wetbacks tranny trannies retard retards retarded kys raghead ragheads towelhead coon coons
        untermensch kanake neger tyttebar пидор пидорас педик жид чурка",
    ),
];
