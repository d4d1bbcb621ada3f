//! The words that numbers are told by, and insults, by what they mean. Written as texts are folded: lower case, no accents, no apostrophes.

use super::Classes;
use super::class::{
    CARD, ID, ITIN, NUMBER, OTHER_NUMBER, PASSWORD, PHONE, SECRET, SSN, TOXIC, TOXIC_SEVERE, VERSION, WALLET, WHOSE,
};

pub(super) const TABLE: &[(Classes, &str)] = &[
    // Context of numbers.
    (
        PHONE,
        "phone phones telephone telephones tel mobile mob cell cellphone cellular call calls called calling caller
        fax contact contacts reach reached reachable dial dialed dialing ring sms whatsapp signal hotline helpline voicemail
        landline answering callback pager phonenumber phonenumbers phoneno mobilenumber mobilephone mobileno homephone
        workphone telephonenumber contactnumber contactno faxnumber cellnumber phonenum msisdn texted rings ringing tollfree toll hotlines
        telefon telefonnummer rufnummer handy handynummer mobil mobilfunk anruf anrufen ruf tlf mobilnummer
        telefono celular movil llamar llame llamame llamada cellulare chiamare chiama chiamami chiameremo chiamate
        chiamarmi telefonare fisso
        telephoner appeler appelez appelle portable joindre mobiele telefoon telefoonnummer bellen gsm
        telefone ligar ligue telemovel puhelin puhelinnumero puh soita ring zadzwon dzwonic komorka numertelefonu
        telefonszam telefonszama telefonszamom hivjon telepono telepon telpon ponsel arayin telefonu telefonum
        telefona telefonem telefoni telefonisch erreichen erreichbar erreichst kontakt kontaktieren kontaktnummer ph
        kontaktujte kontaktirajte contattare contattarmi contattaci contattami contatto contatti recapito contacto
        contactar contactame contactarme contacte contacter contactez joignable contato contatar
        dzwon bel belt belde bereikbaar bereiken hubungi obadete numarasindan
        telefoonnr mobielnummer soittakaa ringa ringer tlfnr yhteystiedot llamenos suna
        telefonumu cep ara rufen rufe ruft rufnr festnetz telefonnr telefoon telefonni telefonnummeret thoai ligando
        ligacao zavolejte volejte zvonete sunati nazovite тел телефон телефону позвоните звоните звонить мобильный
        обадете обади телефонный телефонного дзвоніть зателефонуйте мобільний позвони свяжитесь телефоном
        τηλέφωνο τηλεφωνο τηλέφωνό κινητό κινητο τηλ καλέστε טלפון נייד בטלפון לטלפון הטלפון בנייד הנייד
        هاتف جوال اتصل الهاتف फोन मोबाइल โทร โทรศัพท์",
    ),
    (
        CARD,
        "card cards creditcard cc visa mastercard amex maestro discover pan debit credit ccnum cardnumber kreditkarte
        kartennummer tarjeta carte bancaire carta credito cartao kreditkort pankkikortti luottokortti karta karte kart
        creditcardnumber cardno cardnum ccnumber kreditkartennummer kreditkarten kartennr bankkarte kortnummer bankkort
        karty karti kartu kredi creditcards карта карты карту",
    ),
    (SSN, "ssn ssns social socialsecurity socialsecuritynumber ssnumber ssnno ss"),
    (ITIN, "itin taxpayer tin"),
    (
        ID,
        "identity identification national citizen passport personal tax taxid fiscal insurance
        resident ausweis personalausweis steuer steuernummer steueridentifikationsnummer idnr steuerid
        sozialversicherung rentenversicherung krankenversicherung dni nie nif codice fiscale bsn burgerservicenummer
        pesel personnummer hetu henkilotunnus cpf cnpj aadhaar aadhar pan sin nino nhs medicare tfn abn nric fin
        insee securite sociale nir ahv avs rrn tckn kimlik curp rfc rut egn cnp oib inn snils
        инн снилс паспорт npi aba routing taxpayer vat ust umsatzsteuer steuernr identitetsnummer
        fodselsnummer cprnummer cpr rodne isikukood asmens kodas personas kods jmbg emso",
    ),
    (
        OTHER_NUMBER,
        "order orders invoice ticket account acct serial tracking shipment parcel isbn issn zip postal
        postcode zipcode reference ref case sku part item product model build revision chapter page pages article
        section figure table score population patent grant bug issue pr commit port row rows version loan claim mrn booking reservation
        confirmation receipt contract imei
        kontonummer rechnung bestellung auftrag commande facture pedido factura ordine fattura konto
        orderno ordernumber orderid invoiceno invoicenumber accountnumber accountno trackingnumber ticketid postalcode
        transactionid license licence licencia factuur faktura fakturu faktury fattura fatura rechnungsnummer rechnungsnr
        bestellnummer bestelling zamowienie objednavka ordernummer kundennummer klantnummer
        счет заказ заказа счёт",
    ),
    (NUMBER, "number numbers nummer numero num no nr cislo numer broj"),
    (WHOSE, "my your ur his her their our me him them us mine mines whose"),
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
